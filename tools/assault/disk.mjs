// Lets the disk fail under the service: full, unable to sync or to write, read-only, its file replaced. strace injects
// the errors of system calls; a full disk is a small tmpfs, which only root can mount.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../build/src/adapters/sqlite/index.js';
import { Ledger, create, inFolder, send, serve } from './keyed-creates.mjs';

const succeeds = (command, ...args) => spawnSync(command, args).status === 0;

/** The status of GET `target`, or 0 if there was no response. */
const statusOf = (url, target) =>
  send(url, target).then(
    ({ status }) => status,
    () => 0,
  );

/** Waits until `holds` resolves to true. Resolves to the milliseconds it took, or to Infinity after `limit`. */
async function until(holds, limit) {
  const began = performance.now();
  while (performance.now() - began < limit) {
    if (await holds()) return Math.round(performance.now() - began);
    await delay(20);
  }
  return Infinity;
}

/** Creates animals of `size` characters until `enough` says so. The ledger gets those acknowledged. */
async function createUntil(enough, url, ledger, size = 20) {
  for (let tries = 1; ; tries += 1) {
    const name = `animal-${ledger.size}-${tries}-`.padEnd(size, 'x');
    const { status, body } = await create(url, name);
    if (status === 201) ledger.acknowledge(name, body);
    if (enough(status, tries)) return;
  }
}

/** A service with 20 animals, to which `happen` does something; then the ledger is compared. */
async function survives(what, { show, file, wrapper }, happen) {
  const ledger = new Ledger();
  const service = await serve(`sqlite:${file}`, { wrapper });
  await createUntil((_, tries) => tries >= 20, service.url, ledger);
  await happen(service, ledger);
  const [code] = await service.stop();
  show(`${what}: exit code of the stop`, code, 'equals', 0);
  const { others } = await ledger.judge(show, openSqliteStore(file), what);
  show(`${what}: refused animals stored`, others, 'equals', 0);
}

/** Until a repair creates are refused with one line each, reads are served, and the store is reported unreachable. */
async function refuses(what, show, { url, lines }, reason) {
  let refused = 0;
  let line;
  for (let number = 0; number < 5; number += 1) {
    const { status, headers } = await create(url, `refused-${number}`);
    const told = () => lines.filter((text) => text.includes(headers['x-request-id']));
    await until(() => told().length > 0, 10_000);
    [line] = told();
    if (status === 503 && told().length === 1 && reason.test(line)) refused += 1;
  }
  console.log(line);
  show(`${what}: creates refused with 503 and one line that says why, of 5`, refused, 'equals', 5);
  const read = [await statusOf(url, '/v1/pets'), await statusOf(url, '/livez')];
  show(
    `${what}: of list and /livez, served`,
    read.filter((status) => status === 200).length,
    'equals',
    2,
  );
  const notReady = await until(async () => (await statusOf(url, '/readyz')) === 503, 10_000);
  show(`${what}: until /readyz is 503`, notReady, 'at most', 5000, ' ms');
}

/** After the repair the store is ready before anybody creates, and then creates succeed. */
async function recovers(what, show, { url }, ledger) {
  const back = await until(async () => (await statusOf(url, '/readyz')) === 200, 10_000);
  show(`${what}: until /readyz is 200 again`, back, 'at most', 15000, ' ms');
  let status = 0;
  await createUntil((last) => (status = last), url, ledger);
  show(`${what}: status of the next create`, status, 'equals', 201);
}

/** A start must fail with one line and leave the files as they are. */
async function refusesToStart(what, show, file) {
  const before = readFileSync(file);
  const service = await serve(`sqlite:${file}`).catch((error) => error);
  if (service.url !== undefined) await service.end('SIGKILL');
  const { lines, code } = service;
  console.log(lines.join('\n'));
  show(
    `${what}: lines of the start, which is refused`,
    service.url ? 0 : lines.length,
    'equals',
    1,
  );
  show(`${what}: exit code`, code, 'equals', 1);
  show(`${what}: files changed`, Number(!readFileSync(file).equals(before)), 'equals', 0);
}

async function fullDisk(show, folder) {
  const disk = join(folder, 'full');
  const file = join(disk, 'animals.db');
  mkdirSync(disk);
  if (!succeeds('mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk)) {
    return console.log('not run: a full disk, which only root can mount');
  }
  try {
    const filler = join(disk, 'filler');
    writeFileSync(filler, Buffer.alloc(1 << 20));
    await survives('full', { show, file }, async (service, ledger) => {
      await createUntil(
        (status, tries) => status !== 201 || tries > 5000,
        service.url,
        ledger,
        900,
      );
      await refuses('full', show, service, /full/);
      const other = await serve(`sqlite:${file}`);
      show(
        'full: status of a list after another start',
        await statusOf(other.url, '/v1/pets'),
        'equals',
        200,
      );
      await other.stop();
      rmSync(filler);
      await recovers('full', show, service, ledger);
    });
    succeeds('mount', '-o', 'remount,ro', disk);
    await refusesToStart('read-only disk', show, file);
  } finally {
    succeeds('umount', disk);
  }
}

/** The system calls fail for some time, from the one numbered `from` on. */
async function failingCalls(what, show, folder, { calls, error, from }) {
  const wrapper = `strace -D -f -qq -o /dev/null -e trace=${calls} -e inject=${calls}:error=${error}:when=${from}..${from + 9}`;
  const at = { show, file: join(folder, `${error}-${from}.db`), wrapper: wrapper.split(' ') };
  await survives(what, at, async (service, ledger) => {
    await createUntil((status, tries) => status !== 201 || tries > 500, service.url, ledger);
    await refuses(what, show, service, /disk I\/O error/);
    await recovers(what, show, service, ledger);
  });
}

/** Another service makes a new store in the place of one that is in use. The end of the first must not touch it. */
async function takenOver(show, folder) {
  const file = join(folder, 'taken.db');
  const first = await serve(`sqlite:${file}`);
  await create(first.url, 'of-the-first');
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix);
  const ledger = new Ledger();
  const second = await serve(`sqlite:${file}`);
  await createUntil((_, tries) => tries >= 20, second.url, ledger);
  await first.stop();
  const { status } = await create(second.url, 'after-the-first');
  show('taken over: status of a create after the first service ended', status, 'equals', 201);
  await second.end('SIGKILL');
  await ledger.judge(show, openSqliteStore(file), 'taken over');
}

export const attack = ({ short, show }) =>
  inFolder(async (folder) => {
    await fullDisk(show, folder);
    if (succeeds('strace', '-f', 'true')) {
      await failingCalls('no sync', show, folder, {
        calls: 'fsync,fdatasync',
        error: 'EIO',
        from: 40,
      });
      if (!short)
        await failingCalls('no write', show, folder, {
          calls: 'pwrite64',
          error: 'EROFS',
          from: 400,
        });
    } else console.log('not run: failing system calls, which need strace');
    await takenOver(show, folder);
  });
