// Compares the built service with the same in Fastify, Hono and Koa by hand, equipped alike: CPU time for each request,
// requests a second, latency; first in a new process, then with many clients and with one. The programs take turns in
// short rounds, so that other load on the machine hits all alike. Prints medians. CPU times are also compared with those
// of the first program, round by round.
//   npm run build && npm install --prefix tools/peers
//   npm run measure [-- NAME...] [--rounds 9] [--clients 32]
// NAME: fastify, hono, koa, animal-store, or the folder of another checkout that is built. Default: these four.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { main, startService } from './service.mjs';

const KEY = 'measuring-key-0123456789';
const SECONDS = 0.5; // of a round
const FIRST_SECONDS = 5; // of a new process
/** How many processes of each program are started for their first seconds. */
const STARTS = 3;
/** Rounds before those that count: a compiler needs a second. */
const WARM_UP = 3;
/** Most repeats of a round in which requests failed, as they do on a busy machine. */
const REPEATS = 9;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PROGRAMS = {
  fastify: here('./peers/fastify-service.mjs'),
  hono: here('./peers/hono-service.mjs'),
  koa: here('./peers/koa-service.mjs'),
  'animal-store': main,
};

const HEAD = `HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
const NEW_PET = '{"name":"Bella","categoryId":7}';
const JSON_HEAD = `Content-Type: application/json\r\nContent-Length: ${NEW_PET.length}\r\n`;

/** What each operation sends. Creates come first: others need animals. */
const OPERATIONS = {
  create: `POST /v1/pets ${HEAD}${JSON_HEAD}\r\n${NEW_PET}`,
  get: `GET /v1/pets/7 ${HEAD}\r\n`,
  'list of 20': `GET /v1/pets ${HEAD}\r\n`,
  'list by status': `GET /v1/pets?status=available&limit=20 ${HEAD}\r\n`,
};

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    clients: { type: 'string', default: '32' },
  },
});
const many = Number(values.clients);
const names = positionals.length > 0 ? positionals : Object.keys(PROGRAMS);

/** CPU time of all threads of a process, in microseconds (Linux). */
function cpuOf(pid) {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ', 1)[0]),
  );
  return nanoseconds.reduce((sum, part) => sum + part / 1_000, 0);
}

/** Starts a program with a new store. */
async function start(name, folder, store) {
  const program = PROGRAMS[name] ?? join(name, 'build/src/bootstrap/main.js');
  const settings = {
    STORE_URL: `sqlite:${join(folder, `${basename(name)}-${store}.db`)}`,
    API_KEYS: KEY,
  };
  const service = await startService(settings, { command: [process.execPath, program, 'serve'] });
  const load = fork(here('./load.mjs'), [service.url.port]);

  /** One round of an operation, again if requests failed. */
  const round = async (operation, clients, seconds = SECONDS) => {
    for (let repeats = 0; repeats <= REPEATS; repeats += 1) {
      const before = cpuOf(service.pid);
      load.send({ request: OPERATIONS[operation], clients, seconds });
      const [{ requests, failed, median: latency }] = await once(load, 'message');
      const cpu = (cpuOf(service.pid) - before) / requests;
      if (failed === 0) return { cpu, rate: requests / seconds, latency };
    }
    throw new Error(`${name}: requests of ${operation} fail`);
  };
  const stop = () => {
    load.kill();
    return service.stop();
  };
  return { round, stop };
}

const median = (numbers) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** The medians of the rounds of a service, with the ratio of its CPU time to that of the first one, round by round. */
function summary(rounds, firstRounds) {
  const medianOf = (figure) => median(rounds.map((round) => round[figure]));
  const ratio = median(rounds.map(({ cpu }, index) => cpu / firstRounds[index].cpu));
  return {
    'CPU us': medianOf('cpu').toFixed(1),
    [`${names[0]} = 1`]: ratio.toFixed(2),
    'a second': Math.round(medianOf('rate')),
    'median ms': medianOf('latency').toFixed(2),
  };
}

using folder = mkdtempDisposableSync(join(tmpdir(), 'animal-store-measure-'));

/** The rounds of each program in its first seconds. Each process has a store of its own. */
async function firstRounds() {
  const results = names.map(() => []);
  for (let count = 0; count < STARTS; count += 1)
    for (const [index, name] of names.entries()) {
      const service = await start(name, folder.path, count);
      await service.round('create', 1, 0.1); // a get needs an animal
      results[index].push(await service.round('get', many, FIRST_SECONDS));
      await service.stop();
    }
  return results;
}

/** The rounds of each program once it is warm. */
async function steadyRounds(services, operation, clients) {
  const results = names.map(() => []);
  for (let round = -WARM_UP; round < Number(values.rounds); round += 1)
    for (const [index, service] of services.entries()) {
      const result = await service.round(operation, clients);
      if (round >= 0) results[index].push(result);
    }
  return results;
}

function print(title, allResults) {
  const table = {};
  for (const [operation, results] of Object.entries(allResults))
    for (const [index, name] of names.entries())
      table[`${operation}, ${basename(name)}`] = summary(results[index], results[0]);
  console.log(title);
  console.table(table);
}

print(`The first ${FIRST_SECONDS} seconds, ${many} clients`, { get: await firstRounds() });
const services = [];
try {
  for (const name of names) services.push(await start(name, folder.path, 'steady'));
  for (const clients of [many, 1]) {
    const results = {};
    for (const operation of Object.keys(OPERATIONS))
      results[operation] = await steadyRounds(services, operation, clients);
    print(`Steady, clients: ${clients}`, results);
  }
} finally {
  for (const service of services) await service.stop();
}
