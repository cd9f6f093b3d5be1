// Measures the built service beside others: CPU time of the process for each request, and requests per second, with 32
// keep-alive clients (64 for creates) on this machine. Every service is measured in turn, in short rounds, so that what
// else this machine does is the same for all; the medians are printed, and their ratios to the first one's.
// Usage: npm run measure [-- NAME...] [--rounds N], after npm run build. Names: see SERVICES, or the folder of another
// checkout that is built; the peers need npm install --prefix tools/peers. Default: animal-store alone.
// --clients 1 sends one request at a time.
// --guard compares animal-store to node-http, whose ratios are committed in measure-guard.json, and fails when one grew
// by a quarter. On a machine that is too busy to tell it says so, and does not fail.
// --page writes the tables of docs/performance.md; some ten minutes on a quiet machine.
import { mkdtempDisposableSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { startLoad } from './load.mjs';
import { main, startService } from './service.mjs';

const KEY = 'measuring-key-0123456789';
const SECONDS = 0.5; // of a round
/** Rounds before those that count: a compiler needs a second. */
const WARM_UP = 3;
/** How often a round is repeated in which requests failed: a busy machine lets some wait too long. */
const REPEATS = 9;
const mainOf = (checkout) => join(checkout, 'build/src/bootstrap/main.js');
const peer = (name) => fileURLToPath(new URL(`./peers/${name}.mjs`, import.meta.url));

/** Programs, and what they run with. */
const SERVICES = {
  'animal-store': [main],
  'animal-store-on-node-http': [main, { ADAPTERS: peer('on-node-http') }],
  koa: [peer('koa-service')],
  'koa-batched': [peer('koa-service'), { BATCH_LOG: '1' }],
  fastify: [peer('fastify-service')],
  'fastify-batched': [peer('fastify-service'), { BATCH_LOG: '1' }],
  'bare-fastify': [peer('fastify-service'), { BARE: '1' }],
  'node-http': [peer('node-http-service')],
};

const message = (line, ...headers) =>
  [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${KEY}`, ...headers, '', ''].join(
    '\r\n',
  );
const get = (target) => ({ clients: 32, requests: [message(`GET ${target}`)] });
const NEW_PET = '{"name":"Bella","categoryId":7}';
const create = (...headers) => {
  const body = ['Content-Type: application/json', `Content-Length: ${NEW_PET.length}`];
  return { clients: 64, requests: [message('POST /v1/pets', ...body, ...headers) + NEW_PET] };
};

/** What each operation sends. Creates come first: others need animals. */
const OPERATIONS = {
  create: create(),
  'keyed create': create('Idempotency-Key: key-{number}'),
  get: get('/v1/pets/7'),
  'list of 20': get('/v1/pets'),
  'list by status': get('/v1/pets?status=available&limit=20'),
};

const median = (numbers) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** What all threads of a process had of CPU time, and waited for it, in microseconds (Linux). */
function timesOf(pid) {
  const times = { cpu: 0, waited: 0 };
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1');
    const [cpu, waited] = text.split(' ').map((nanoseconds) => nanoseconds / 1000);
    times.cpu += cpu;
    times.waited += waited;
  }
  return times;
}

async function start(name, folder, clients) {
  const [program, settings] = SERVICES[name] ?? [mainOf(name)];
  const store = { STORE_URL: `sqlite:${join(folder, `${basename(name)}.db`)}`, API_KEYS: KEY };
  const service = await startService(
    { ...store, ...settings },
    { command: [process.execPath, program, 'serve'] },
  );
  service.ignoreLog();
  const times = () => timesOf(service.pid);
  const load = startLoad(service.url.port);
  return {
    name,
    /** One round of an operation. */
    async round(operation) {
      const before = times();
      const work = { ...OPERATIONS[operation], seconds: SECONDS };
      const { status, seconds, p50, p99 } = await load.run({
        ...work,
        clients: clients ?? work.clients,
      });
      const counts = Object.entries(status);
      const requests = counts.reduce((sum, [, count]) => sum + count, 0);
      const hasFailed = requests === 0 || counts.some(([code]) => code < 200 || code >= 400);
      const failure =
        hasFailed && `${name}, ${operation}: requests failed: ${JSON.stringify(status)}`;
      const after = times();
      const cpu = after.cpu - before.cpu;
      const waited = after.waited - before.waited;
      return {
        cpu: cpu / requests,
        busy: waited / (waited + cpu),
        rate: requests / seconds,
        p50,
        p99,
        failure,
      };
    },
    stop() {
      load.stop();
      return service.stop();
    },
  };
}

/**
 * Returns the medians of each operation, by service, and calls `report` with them. `ratio` has those of the ratios to the
 * first service, round by round.
 */
async function measure(names, operations, { rounds, clients, report = () => {} }) {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'animal-store-measure-'));
  const services = [];
  const measured = {};
  try {
    for (const name of names) {
      const service = await start(name, folder.path, clients);
      services.push(service);
      await service.round('create');
    }
    for (const operation of operations) {
      const results = new Map(names.map((name) => [name, []]));
      for (let round = -WARM_UP; round < rounds; round += 1) {
        for (const service of services) {
          let result = await service.round(operation);
          if (round < 0) continue; // what is still being compiled may refuse some
          for (let repeats = 0; result.failure && repeats < REPEATS; repeats += 1)
            result = await service.round(operation);
          if (result.failure) throw new Error(result.failure);
          results.get(service.name).push(result);
        }
      }
      const first = results.get(names[0]);
      const mediansOf = (name) => {
        const all = results.get(name);
        const values = ['cpu', 'busy', 'rate', 'p50', 'p99'].map((figure) => [
          figure,
          median(all.map((result) => result[figure])),
          median(all.map((result, index) => result[figure] / first[index][figure])),
        ]);
        return {
          ...Object.fromEntries(values),
          ratio: Object.fromEntries(values.map(([figure, , ratio]) => [figure, ratio])),
        };
      };
      measured[operation] = Object.fromEntries(names.map((name) => [name, mediansOf(name)]));
      report(operation, measured[operation]);
    }
    return measured;
  } finally {
    for (const service of services) await service.stop();
  }
}

/** `fast` if no ratio to node-http is a quarter above the committed one, else `slow`, or `busy` where none can tell. */
async function comparedToCommitted() {
  const committed = JSON.parse(
    readFileSync(new URL('./measure-guard.json', import.meta.url), 'utf8'),
  );
  const verdicts = new Set();
  const report = (operation, results) => {
    const { ratio, busy } = results['animal-store'];
    const growth = ratio.cpu / committed[operation];
    // A service that waits for half of its time shares a processor and its caches with another: it may need twice as much.
    const slow = growth * (1 - busy) > 1 ? 'slow' : 'busy';
    verdicts.add(growth > 1.25 ? slow : 'fast');
    console.log(
      `${operation}: ${ratio.cpu.toFixed(2)} times the CPU time of node-http (committed: ${committed[operation]}), ` +
        `${Math.round(busy * 100)} % of the time waiting for a processor`,
    );
  };
  await measure(['node-http', 'animal-store'], Object.keys(committed), { rounds: 6, report });
  return ['slow', 'busy', 'fast'].find((verdict) => verdicts.has(verdict));
}

/** The services in the first table of docs/performance.md. */
const ROWS = {
  'animal-store': 'animal store (Koa)',
  'animal-store-on-node-http': 'the same without Koa',
  koa: 'Koa 3 by hand',
  'koa-batched': 'Koa 3 by hand, log batched',
  fastify: 'Fastify 5',
  'fastify-batched': 'Fastify 5, log batched',
  'bare-fastify': 'Fastify 5, bare',
  'node-http': '`node:http`, bare',
};
/** Those that one client alone is measured with, in the second table. */
const ALONE = ['koa-batched', 'fastify', 'fastify-batched'];
/** How often one client alone is measured: a single run has shown the opposite of another. */
const RUNS = 5;

const tableOf = ([head, ...rows]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** CPU time by service and operation, with ratios to the service, and creates a second. */
async function tableOfMany() {
  const columns = ['create', 'get', 'list of 20', 'list by status'];
  const measured = await measure(Object.keys(ROWS), columns, { rounds, report: print });
  const cellOf = (name) => (operation) => {
    const { cpu, ratio } = measured[operation][name];
    const compared = name === 'animal-store' ? '' : ` (${ratio.cpu.toFixed(2)})`;
    return `${Math.round(cpu)}${compared}`;
  };
  const rows = [['', ...columns, 'creates a second']];
  for (const [name, title] of Object.entries(ROWS)) {
    const rate = Math.round(measured.create[name].rate / 100) * 100;
    rows.push([title, ...columns.map(cellOf(name)), rate.toLocaleString('en')]);
  }
  return tableOf(rows);
}

/** The figures of the service as parts of each peer's, with one client: the smallest and the largest of several runs. */
async function tableOfOne() {
  const operations = ['create', 'get', 'list of 20'];
  const runs = [];
  for (let run = 0; run < RUNS; run += 1)
    runs.push(
      await measure(['animal-store', ...ALONE], operations, { rounds, clients: 1, report: print }),
    );
  const rangeOf = (operation, peer) => (figure) => {
    const parts = runs.map((measured) => 1 / measured[operation][peer].ratio[figure]);
    return `${Math.min(...parts).toFixed(2)} to ${Math.max(...parts).toFixed(2)}`;
  };
  const rows = [['', 'beside', 'CPU time', 'median', '99th percentile']];
  for (const operation of operations)
    for (const peer of ALONE) {
      const ranges = ['cpu', 'p50', 'p99'].map(rangeOf(operation, peer));
      rows.push([operation, ROWS[peer], ...ranges]);
    }
  return tableOf(rows);
}

/** Writes the first two tables of docs/performance.md. */
async function writePage() {
  const page = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
  const tables = [await tableOfMany(), await tableOfOne()];
  const written = readFileSync(page, 'utf8');
  const options = { ...(await resolveConfig(page)), parser: 'markdown' };
  const made = written.replaceAll(/^\|[^]*?\|$(?!\n\|)/gm, (table) => tables.shift() ?? table);
  writeFileSync(page, await format(made, options));
}

/** Prints the medians of an operation. */
function print(operation, results) {
  for (const [name, { cpu, rate, p50, p99, ratio }] of Object.entries(results))
    console.log(
      `${operation.padEnd(14)} ${name.padEnd(25)} ${cpu.toFixed(1).padStart(6)} us CPU  ${ratio.cpu.toFixed(2)} ` +
        `times ${Object.keys(results)[0]}  ${Math.round(rate)}/s  p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms`,
    );
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    guard: { type: 'boolean' },
    page: { type: 'boolean' },
    clients: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
if (values.guard) {
  // What became slower fails three tries.
  const verdicts = [];
  while (verdicts.length < 3 && !verdicts.includes('fast'))
    verdicts.push(await comparedToCommitted());
  if (verdicts.every((verdict) => verdict === 'slow')) {
    console.error(
      'The service became slower. If that is worth it, commit the new ratios and say why.',
    );
    process.exitCode = 1;
  } else if (!verdicts.includes('fast')) console.log('NOT RUN: the machine is too busy to compare');
} else if (values.page) await writePage();
else {
  const names = positionals.length > 0 ? positionals : ['animal-store'];
  const clients = values.clients && Number(values.clients);
  await measure(names, Object.keys(OPERATIONS), { rounds, clients, report: print });
}
