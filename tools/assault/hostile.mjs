// Attacks the listener with ordinary sockets, most of them without a key, while a prober requests /livez on a new
// connection every 50 ms. BUDGETS must hold in every attack; what must hold besides is beside the attack.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { animalStoreClient } from '../../build/src/adapters/http/client/index.js';
import { main, startService } from '../service.mjs';
import { temporaryFolder } from '../temporary-folder.mjs';
import { controlGroups } from './support/control-groups.mjs';
import * as attacks from './support/hostile-attacks.mjs';
import { KEYS } from './support/hostile-requests.mjs';

/** `--short` multiplies the times by five: its machine may do other work. */
const BUDGETS = {
  failedLivez: 0,
  slowestLivez: 500, // milliseconds
  longestStall: 100, // of the event loop, in milliseconds
  memory: 256, // KiB that a connection adds, after garbage collection
};
/** The longest page in KiB: 100 animals whose names are 1,000 characters of 4 bytes. */
const PAGE = 400;
/** The service's highest number of connections. */
const MOST_OPEN = 2_000;

/** `run` does the attack, and resolves to how many of `forbidden` it found: 0 is right. */
const ATTACKS = [
  { name: '400 clients that pipeline and never read', run: attacks.pipeline(400) },
  // They send 240 MB in an instant: on a busy machine a bare net.Server needs 390 ms to read it.
  { name: '1,600 clients that pipeline and never read', run: attacks.pipeline(1_600), long: true },
  {
    name: '200 clients that request the longest page and never read',
    run: attacks.requestLongestPages,
    memory: PAGE + BUDGETS.memory,
    forbidden: 'lists of another key that fail',
  },
  {
    name: '300 bodies of one key that come slowly',
    run: attacks.sendBodiesSlowly,
    forbidden: 'creates of another key that fail',
  },
  { name: '2,500 connections with headers that do not end', run: attacks.sendEndlessHeaders },
  { name: '2,500 idle connections after GET /livez', run: attacks.stayIdle },
  { name: 'headers that repeat a separator', run: attacks.repeatSeparators },
  {
    name: 'requests that hide a create',
    run: attacks.hideCreates,
    forbidden: 'hidden creates that were executed',
  },
];

const CONTAINER = { memory: 256 * 1024 ** 2, cpu: 0.2 };
/** On a service in a container. No /livez may take longer than `patience`. */
const CONTAINER_ATTACKS = [
  { name: 'a fifth of a CPU, 12 clients that abort', run: attacks.abortRequests, patience: 2_000 },
  {
    name: '256 MiB, 1,950 clients that pipeline and never read',
    run: attacks.pipeline(1_950, 4_000, 20_000),
    patience: 6_000,
  },
];

const pathOf = (name) => fileURLToPath(new URL(`./support/${name}`, import.meta.url));

export async function attack({ short, show }) {
  if (!existsSync('/proc/self/schedstat')) return 'Linux, which reports how long processes wait';
  const slack = short ? 5 : 1;
  await attackOnSqlite(short, slack, show);
  return attackInContainer(short, slack, show);
}

/** Attacks a service on SQLite that reports its memory and its event loop. */
async function attackOnSqlite(short, slack, show) {
  using folder = temporaryFolder();
  const settings = {
    API_KEYS: KEYS.join(),
    STORE_URL: `sqlite:${join(folder.path, 'animals.db')}`,
  };
  const options = ['--expose-gc', '--import', pathOf('watch-event-loop.mjs')];
  const command = [process.execPath, ...options, main, 'serve'];
  await using service = await startService(settings, { command, ipc: true });
  // The service makes this page at its first request.
  await (await fetch(new URL('/openapi.json', service.url))).text();

  for (const { name, run, forbidden, memory = BUDGETS.memory, long } of ATTACKS) {
    if (short && long) continue;
    const before = await service.report();
    const { sockets, found, failed, slowest } = await probeDuring(run, service, { short });
    const last = await Promise.race([service.report(), service.end(), delay(20_000)]);
    sockets.forEach((socket) => socket.destroy());
    if (!last?.memory) throw new Error(`${name}: the service has ended or hangs`);
    const added = (last.memory - before.memory) / 1024 / Math.min(sockets.length, MOST_OPEN);
    show(`${name}: failed /livez`, failed, BUDGETS.failedLivez);
    show(`${name}: ms of the slowest /livez`, slowest, BUDGETS.slowestLivez * slack);
    show(`${name}: ms of the longest stall`, last.stall, BUDGETS.longestStall * slack);
    show(`${name}: KiB that a connection adds`, added, memory);
    if (forbidden) show(`${name}: ${forbidden}`, found);
  }
}

async function attackInContainer(short, slack, show) {
  const groups = controlGroups(CONTAINER);
  if (!groups) return 'control groups of version 1 for its last two attacks';
  const settings = { API_KEYS: KEYS.join(), STORE_URL: 'memory:' };
  const command = groups.command([process.execPath, main, 'serve']);
  const service = await startService(settings, { command });
  try {
    for (const { name, run, patience } of CONTAINER_ATTACKS) {
      const options = { short, patience: patience * slack };
      const { sockets, failed } = await probeDuring(run, service, options);
      sockets.forEach((socket) => socket.destroy());
      show(`${name}: failed /livez`, failed, BUDGETS.failedLivez);
    }
  } finally {
    await Promise.race([service.stop(), delay(10_000)]);
    await service.end('SIGKILL');
    groups.remove();
  }
  return undefined;
}

/** Runs an attack. A /livez without a response after `patience` milliseconds has failed. */
async function probeDuring(run, service, { short, patience = 20_000 }) {
  const { port } = service.url;
  const prober = fork(pathOf('prober.mjs'), [port, patience, service.pid]);
  await once(prober, 'message'); // it is ready
  const [own, other] = KEYS.map((apiKey) =>
    animalStoreClient({ baseUrl: service.url, apiKey, retries: 0 }),
  );
  const sockets = [];
  const open = async (texts) => {
    sockets.push(...(await attacks.openAll(port, texts)));
    return sockets;
  };
  const wait = (whenShort, whenLong = whenShort) => delay(short ? whenShort : whenLong);
  const found = await run({ port, own, other, open, wait, short });
  prober.send('finish');
  const [{ failed, slowest }] = await once(prober, 'message');
  return { found, sockets, failed, slowest };
}
