// Runs in a container whose first process is systemd, as root, with the repository in /srv/animal-store: what
// docs/operations/deploy.md says of systemd, line by line, and the units under load. Prints a line of JSON for each figure:
// what it is, whether it holds, and the figure.
import { exec, execFileSync } from 'node:child_process';
import { chownSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeAt } from '../../build/test/docs/code-blocks.js';

const STORE = '/var/lib/animal-store/animal-store.db';
const RESTARTS = 5;

const shell = (line) =>
  execFileSync('sh', ['-c', line], { encoding: 'utf8', timeout: 120_000, stdio: 'pipe' }).trim();
/** The lines of a block of the page, without those that need a network. */
const linesAt = (place) =>
  codeAt(place)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('npm '));

process.on('uncaughtException', (error) => {
  console.error(error);
  console.error(
    shell('journalctl --quiet --output short-precise | grep --invert-match responded | tail -n 60'),
  );
  process.exit(1);
});

const check = (...figure) => console.log(JSON.stringify(figure));

/** One request. Resolves to its status, or to the code of the error. */
const ask = (path, { key, agent = false, port = 8080 } = {}) =>
  new Promise((resolve) => {
    const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    http
      .get({ host: '127.0.0.1', port, path, headers, agent, timeout: 30_000 }, (response) => {
        response.resume().on('close', () => resolve(response.statusCode));
      })
      .on('timeout', function late() {
        this.destroy();
      })
      .on('error', (error) => resolve(error.code ?? error.message));
  });

async function until(what, holds, seconds = 90) {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await delay(50);
  }
}
const isReady = async () => (await ask('/readyz')) === 200;

/** Calls `task` until `stopped`, and counts its results. */
async function counting(stopped, pause, task) {
  const counts = {};
  while (!stopped.aborted) {
    const result = await task();
    counts[result] = (counts[result] ?? 0) + 1;
    await delay(pause);
  }
  return counts;
}

const text = (counts) =>
  Object.entries(counts)
    .map(([result, count]) => `${count} ${result}`)
    .join(', ');
const sum = (all) => {
  const total = {};
  for (const [result, count] of all.flatMap(Object.entries))
    total[result] = (total[result] ?? 0) + count;
  return total;
};

// With systemd: one service.
for (const line of linesAt('docs/operations/deploy.md > With systemd > 1')) shell(line);
await until('animal-store is ready', isReady);
const key = readFileSync('/etc/animal-store/keys', 'utf8').trim();
check('the static key is accepted', (await ask('/v1/pets', { key })) === 200);
const [issuing] = linesAt('docs/operations/deploy.md > With systemd > 2');
check('an issued key is accepted', (await ask('/v1/pets', { key: shell(issuing) })) === 200);

// Backups on a schedule.
for (const line of linesAt('docs/operations/deploy.md > Backing up an SQLite store > 2'))
  shell(line);
const FOLDER = '/var/backups/animal-store';
shell(`cd ${FOLDER} && cp nightly-*.db animals-$(date +%F).db`);
shell(`cd ${FOLDER} && cp nightly-*.db nightly-2020-01-01-031700.db && touch --date 2020-01-01 *`);
shell('sleep 1 && systemctl start animal-store-backup'); // the names have the second
const backups = shell(`ls ${FOLDER}`).split('\n');
check(
  'the timer backs up, and removes old backups of its own',
  backups.length === 2 &&
    backups[0].startsWith('animals-') &&
    shell('systemctl is-active animal-store-backup.timer') === 'active',
  backups.join(' '),
);

// A store that cannot be opened for a while.
shell('systemctl stop animal-store');
renameSync(STORE, `${STORE}.aside`);
writeFileSync(STORE, 'not a store '.repeat(1000));
shell('systemctl start animal-store');
await delay(12_000);
const { uid, gid } = JSON.parse(shell(`stat --format '{"uid":%u,"gid":%g}' ${STORE}.aside`));
renameSync(`${STORE}.aside`, STORE);
chownSync(STORE, uid, gid);
const isBack = await until('the unit is back', isReady).then(
  () => true,
  () => false,
);
const restarts = shell('systemctl show --property NRestarts --value animal-store');
check(
  'a store that cannot be opened for 12 s does not end it for good',
  isBack,
  `${restarts} restarts`,
);
shell('systemctl disable --now animal-store');

// Several services, restarted in turn.
const setUp = linesAt('docs/operations/deploy.md > All the cores > 1');
const rolling = setUp.pop();
for (const line of setUp) shell(line);
await until('both are ready', async () => {
  const states = [await ask('/readyz', { port: 9101 }), await ask('/readyz', { port: 9102 })];
  return states.every((status) => status === 200);
});
const end = new AbortController();
const agent = new http.Agent({ keepAlive: true });
const probes = counting(end.signal, 10, () => ask('/livez'));
const clients = Promise.all(
  Array.from({ length: 24 }, () => counting(end.signal, 1, () => ask('/v1/pets', { key, agent }))),
);
const began = performance.now();
for (let round = 0; round < RESTARTS; round += 1) {
  await promisify(exec)(rolling); // clients go on meanwhile
}
const seconds = ((performance.now() - began) / 1000).toFixed(1);
end.abort();
const opened = await probes;
const kept = sum(await clients);
const failed = (counts) =>
  Object.entries(counts).reduce((all, [result, count]) => all + (result === '200' ? 0 : count), 0);
// Linux resets a connection whose handshake is not complete when its listener closes: at most one or two in a restart.
check(
  `${RESTARTS} restarts of both, probes on new connections`,
  failed(opened) <= 2 * RESTARTS && !opened.ECONNREFUSED,
  text(opened),
);
check(
  `${RESTARTS} restarts of both, clients on kept connections`,
  failed(kept) === (kept[503] ?? 0) && (kept[503] ?? 0) < kept[200] / 1000,
  text(kept),
);
check('took', true, `${seconds} s`);

// The log of many requests.
const REQUESTS = 60_000;
const logged = () =>
  Number(
    shell(
      'journalctl --quiet --unit \'animal-store@*\' --grep \'"msg":"responded"\' --output cat | wc --lines',
    ),
  );
const before = logged();
let left = REQUESTS;
await Promise.all(
  Array.from({ length: 32 }, async () => {
    for (; left > 0; left -= 1) await ask('/v1/pets', { key, agent });
  }),
);
agent.destroy();
// journald is some seconds behind.
await until('the journal has all lines', () => logged() - before >= REQUESTS).catch(() => {});
const lines = logged() - before;
check(
  `the journal has a line for each of ${REQUESTS} requests`,
  lines >= REQUESTS,
  `${lines} lines`,
);

// A wrong setting ends the start at once, and for good.
writeFileSync('/run/wrong.conf', '[Service]\nEnvironment=PORT=none\n');
shell(
  'install -D --mode 644 /run/wrong.conf /etc/systemd/system/animal-store@2.service.d/wrong.conf',
);
shell('systemctl daemon-reload');
const asked = performance.now();
let hasFailed = false;
try {
  shell('systemctl restart animal-store@2');
} catch {
  hasFailed = true;
}
const waited = performance.now() - asked;
await delay(4000);
const state = shell('systemctl show --property ActiveState,NRestarts --value animal-store@2').split(
  '\n',
);
check(
  'a wrong setting fails the restart, which is not tried again',
  hasFailed && waited < 30_000 && state.includes('failed'),
  `${Math.round(waited)} ms, ${state.join(', ')}`,
);
check('the other service goes on', await isReady());
