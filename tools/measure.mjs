// Compares the built service with the same in Fastify, Hono and Koa by hand, equipped alike: CPU time for each request,
// and requests a second; first in a new process, then with many clients and with one. The programs take turns in short
// rounds, so that other load on the machine hits all alike. Prints medians. CPU times are also compared with those of
// the first program, round by round.
//   npm run build && npm ci --prefix tools/peers
//   npm run measure [-- NAME...] [--rounds 9] [--clients 32]
// NAME: fastify, hono, koa, animal-store, or the folder of another clone that is built. Default: these four.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { main, startService } from './service.mjs';
import { temporaryFolder } from './temporary-folder.mjs';

const KEY = 'measuring-key-0123456789';
const SECONDS = 0.5; // of a round
const FIRST_SECONDS = 5; // of a new process
/** How many processes of each program are started for their first seconds. */
const STARTS = 3;
/** Rounds before those that count: a compiler needs a second. */
const WARM_UP = 3;
/** How often a round is tried: on a busy machine requests may fail. */
const TRIES = 10;

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
  get: `GET /v1/pets/1 ${HEAD}\r\n`,
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
const names = positionals.length > 0 ? positionals : Object.keys(PROGRAMS);
const many = Number(values.clients);

using folder = temporaryFolder();
const load = fork(here('./load.mjs'));
let starts = 0;

/** Starts a program with a store of its own. */
function start(name) {
  starts += 1;
  const settings = { STORE_URL: `sqlite:${join(folder.path, `${starts}.db`)}`, API_KEYS: KEY };
  const program = PROGRAMS[name] ?? join(name, 'build/src/bootstrap/main.js');
  return startService(settings, { command: [process.execPath, program, 'serve'] });
}

/** CPU time of all threads of a process, in microseconds (Linux). */
function cpuOf(pid) {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`))
    nanoseconds += parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1'), 10);
  return nanoseconds / 1_000;
}

/** One round: the CPU time of a request in microseconds, and the requests a second. */
async function measure({ url, pid }, operation, clients, seconds = SECONDS) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = cpuOf(pid);
    load.send({ port: url.port, request: OPERATIONS[operation], clients, seconds });
    const [{ requests, failed }] = await once(load, 'message');
    const cpu = (cpuOf(pid) - before) / requests;
    if (failed === 0) return { cpu, rate: requests / seconds };
  }
  throw new Error(`requests of ${operation} fail at ${url}`);
}

const median = (numbers) =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** Lets the programs take turns, and prints the medians of the rounds after `warmUp`. */
async function compare(title, { rounds, warmUp = 0 }, measureProgram) {
  const results = names.map(() => []);
  for (let round = -warmUp; round < rounds; round += 1)
    for (const [index, own] of results.entries()) {
      const figures = await measureProgram(index);
      if (round >= 0) own.push(figures);
    }
  const table = {};
  for (const [index, own] of results.entries()) {
    const ratios = own.map(({ cpu }, round) => cpu / results[0][round].cpu);
    table[names[index]] = {
      'CPU us': median(own.map(({ cpu }) => cpu)).toFixed(1),
      [`${names[0]} = 1`]: median(ratios).toFixed(2),
      'a second': Math.round(median(own.map(({ rate }) => rate))),
    };
  }
  console.log(title);
  console.table(table);
}

const first = `${many} clients: get, first ${FIRST_SECONDS} seconds`;
await compare(first, { rounds: STARTS }, async (index) => {
  await using service = await start(names[index]);
  await measure(service, 'create', 1, 0.1); // a get needs an animal
  return await measure(service, 'get', many, FIRST_SECONDS);
});

await using services = new AsyncDisposableStack();
const running = [];
for (const name of names) running.push(services.use(await start(name)));
const rounds = { rounds: Number(values.rounds), warmUp: WARM_UP };
for (const [title, clients] of [
  [`${many} clients`, many],
  ['one client', 1],
])
  for (const operation of Object.keys(OPERATIONS))
    await compare(`${title}: ${operation}`, rounds, (index) =>
      measure(running[index], operation, clients),
    );
load.disconnect();
