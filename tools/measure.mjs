// Measures the built service beside others: CPU time of the process for each request, and requests per second, with 32
// keep-alive clients (64 for creates) on this machine. Every service is measured in turn, in short rounds, so that what
// else this machine does is the same for all; the medians are printed, and their ratios to the first one's.
// Usage: npm run measure [-- NAME...] [--rounds N], after npm run build. Names: see SERVICES; Fastify needs npm install
// --prefix tools/peers. Default: animal-store alone. --guard compares animal-store to node-http, whose ratios are
// committed in measure-guard.json, and fails when one grew by a quarter.
// --clients 1 sends one request at a time.
import { mkdtempDisposableSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startLoad } from './load.mjs';
import { main, startService } from './service.mjs';

const KEY = 'measuring-key-0123456789';
const SECONDS = 0.5; // of a round
/** Rounds before those that count: a compiler needs a second. */
const WARM_UP = 3;
const mainOf = (checkout) => join(checkout, 'build/src/bootstrap/main.js');
const peer = (name) => fileURLToPath(new URL(`./peers/${name}.mjs`, import.meta.url));

/** Programs, and what they run with. */
const SERVICES = {
  'animal-store': [main],
  'animal-store-on-node-http': [main, { ADAPTERS: peer('on-node-http') }],
  fastify: [peer('fastify-service')],
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

/** CPU time of all threads of a process, in microseconds (Linux). */
const cpuOf = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) =>
      sum +
      Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]) / 1000,
    0,
  );

async function start(name, folder) {
  const [program, settings] = SERVICES[name] ?? [mainOf(name)];
  const store = { STORE_URL: `sqlite:${join(folder, `${basename(name)}.db`)}`, API_KEYS: KEY };
  const service = await startService(
    { ...store, ...settings },
    { command: [process.execPath, program, 'serve'] },
  );
  service.ignoreLog();
  const cpu = () => cpuOf(service.pid);
  const load = startLoad(service.url.port);
  return {
    name,
    /** One round of an operation. */
    async round(operation) {
      const before = cpu();
      const work = OPERATIONS[operation];
      const clients = values.clients ? Number(values.clients) : work.clients;
      const { status, seconds, p99 } = await load.run({ ...work, clients, seconds: SECONDS });
      const counts = Object.entries(status);
      const requests = counts.reduce((sum, [, count]) => sum + count, 0);
      const hasFailed = requests === 0 || counts.some(([code]) => code < 200 || code >= 400);
      const failure =
        hasFailed && `${name}, ${operation}: requests failed: ${JSON.stringify(status)}`;
      return { cpu: (cpu() - before) / requests, rate: requests / seconds, p99, failure };
    },
    stop() {
      load.stop();
      return service.stop();
    },
  };
}

/** Calls `report` with the medians of each operation, by service. */
async function measure(names, operations, rounds, report) {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'animal-store-measure-'));
  const services = [];
  try {
    for (const name of names) {
      const service = await start(name, folder.path);
      services.push(service);
      await service.round('create');
    }
    for (const operation of operations) {
      const results = new Map(names.map((name) => [name, []]));
      for (let round = -WARM_UP; round < rounds; round += 1) {
        for (const service of services) {
          const result = await service.round(operation);
          if (round < 0) continue; // what is still being compiled may refuse some
          if (result.failure) throw new Error(result.failure);
          results.get(service.name).push(result);
        }
      }
      const first = results.get(names[0]);
      report(
        operation,
        names.map((name) => {
          const all = results.get(name);
          return {
            name,
            cpu: median(all.map(({ cpu }) => cpu)),
            rate: median(all.map(({ rate }) => rate)),
            p99: median(all.map(({ p99 }) => p99)),
            ratio: median(all.map(({ cpu }, index) => cpu / first[index].cpu)),
          };
        }),
      );
    }
  } finally {
    for (const service of services) await service.stop();
  }
}

/** Whether no ratio to node-http is a quarter above the committed one. */
async function isAsFastAsCommitted() {
  const committed = JSON.parse(
    readFileSync(new URL('./measure-guard.json', import.meta.url), 'utf8'),
  );
  let isFast = true;
  await measure(
    ['node-http', 'animal-store'],
    Object.keys(committed),
    6,
    (operation, [, { ratio }]) => {
      isFast &&= ratio <= committed[operation] * 1.25;
      console.log(
        `${operation}: ${ratio.toFixed(2)} times the CPU time of node-http (committed: ${committed[operation]})`,
      );
    },
  );
  return isFast;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '12' },
    guard: { type: 'boolean' },
    clients: { type: 'string' },
  },
});
const names = positionals.length > 0 ? positionals : ['animal-store'];
const operations = Object.keys(OPERATIONS);
if (values.guard) {
  // A busy machine gets three tries: what became slower fails all of them.
  if (
    !(await isAsFastAsCommitted()) &&
    !(await isAsFastAsCommitted()) &&
    !(await isAsFastAsCommitted())
  ) {
    console.error(
      'The service became slower. If that is worth it, commit the new ratios and say why.',
    );
    process.exitCode = 1;
  }
} else {
  await measure(names, operations, Number(values.rounds), (operation, results) => {
    for (const { name, cpu, rate, p99, ratio } of results)
      console.log(
        `${operation.padEnd(21)} ${name.padEnd(25)} ${cpu.toFixed(1).padStart(6)} us CPU  ${ratio.toFixed(2)} ` +
          `times ${names[0]}  ${Math.round(rate)}/s  p99 ${p99.toFixed(2)} ms`,
      );
  });
}
