// Ordinary sockets against the listener, most of them without a key: floods of pipelined requests, clients that never
// read, slow headers and bodies, idle connections, and requests with an ambiguous end. Meanwhile another process asks
// for /livez on a new connection every 50 ms. Then connections without end in a container of 256 MiB, and aborted ones
// with a fifth of a CPU.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main, startService } from '../service.mjs';
import { controlGroups } from './control-groups.mjs';
import { inFolder } from './keyed-creates.mjs';
import { stopwatch } from './stopwatch.mjs';

const KEYS = ['first-key-of-the-attack', 'second-key-of-the-attack'];
const self = fileURLToPath(import.meta.url);

const watch = new URL('./stopwatch.mjs', import.meta.url).href;

const head = (line, ...headers) => [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');
const post = (key, ...headers) =>
  head(
    'POST /v1/pets',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...headers,
  );
const animal = (name) => JSON.stringify({ name, categoryId: 1 });

/** Opens sockets that send `bytes` and read only if `reads`; resolves when all have sent or failed. */
async function openAll(port, count, bytes, reads = false) {
  const sockets = Array.from({ length: count }, (_, index) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    if (!reads) socket.pause();
    else socket.resume();
    socket.write(typeof bytes === 'function' ? bytes(index) : bytes);
    return socket;
  });
  await Promise.race([Promise.all(sockets.map((socket) => new Promise((done) => socket.once('connect', done).once('close', done)))), delay(5_000)]); // prettier-ignore
  return sockets;
}

const destroyAll = (sockets) => sockets.forEach((socket) => socket.destroy());

/** The longest page, in KiB. */
const PAGE = 400;
/** 127 KB of requests without a key. */
const FLOOD =
  head('GET /openapi.json').repeat(60) + 'GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(5_000);
/** The service holds so many connections at most. */
const MOST_OPEN = 2_000;

/** Requests whose end proxies and servers could see at different places; each hides a second create. */
function* smugglingVectors(key) {
  const hidden = post(key, `Content-Length: ${animal('smuggled').length}`) + animal('smuggled');
  const shown = animal('shown');
  const encodings = ['chunked', 'Chunked', ' chunked', 'chunked ', 'chunked,', 'x, chunked', 'chunked, identity', 'identity', 'chunked\x0b', '"chunked"', 'xchunked', 'chunked\r\nTransfer-Encoding: x', 'chunked, chunked']; // prettier-ignore
  const lengths = [`${shown.length}`, '0', `+${shown.length}`, `0x${shown.length}`, `${shown.length}, ${shown.length}`, `${shown.length}\r\nContent-Length: 0`]; // prettier-ignore
  for (const encoding of encodings) {
    for (const length of lengths.slice(0, 3)) {
      yield (
        post(key, `Content-Length: ${length}`, `Transfer-Encoding: ${encoding}`) +
        `0\r\n\r\n${hidden}`
      );
    }
    yield `${post(key, `Transfer-Encoding : ${encoding}`)}0\r\n\r\n${hidden}`;
  }
  for (const length of lengths.slice(2))
    yield post(key, `Content-Length: ${length}`) + shown + hidden;
  for (const size of ['0x0', '+0', '-0', ' 0', '0 ', '0;\n', 'G', '', '0\n']) {
    yield `${post(key, 'Transfer-Encoding: chunked')}${size}\r\n\r\n${hidden}`;
  }
  for (const line of [
    'X\rY: z',
    'X: a\n b',
    ' X: y',
    'X\0: y',
    ': y',
    'X: \r\n\tfolded',
    'Content-Length\t: 0',
  ]) {
    yield post(key, line, `Content-Length: ${shown.length}`) + shown.slice(1) + hidden;
  }
}

/** The programs that `--listener` names: the service, and the same on a plain server of node:http. */
const SERVE = {
  gate: [main, 'serve'],
  plain: [fileURLToPath(new URL('./plain-service.mjs', import.meta.url))],
};

export async function attack({ short, listener, show }) {
  const serve = SERVE[listener];
  if (serve === undefined) return `--listener is gate or plain, not ${listener}`;
  if (!existsSync('/proc/self/schedstat')) return 'it reads the waits of a process from /proc';
  await inFolder((folder) => attackIn(folder, { short, serve, show }));
  await attackContainer({ short, serve, show });
  return undefined;
}

async function attackIn(folder, { short, serve, show }) {
  const settings = { API_KEYS: KEYS.join(','), STORE_URL: `sqlite:${join(folder, 'animals.db')}` };
  const options = ['--expose-gc', '--max-old-space-size=1024', '--import', watch];
  const start = () =>
    startService(
      { ...settings, WATCH_EVENT_LOOP: '1' },
      { command: [process.execPath, ...options, ...serve] },
    );
  let service = await start();
  const request = async (key, target, init) => {
    const response = await fetch(`${service.url}${target}`, {
      ...init,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    await response?.arrayBuffer();
    return response?.status ?? 'none';
  };
  /** The longest stall since it was last asked for, and the memory. */
  const watched = () => service.ask('SIGUSR2', 'stall');
  /** Runs one attack with the prober beside it, judges what everybody else noticed, and closes the attack's sockets. */
  const round = async (name, run, memoryEach = 256) => {
    const { memory: before } = await watched();
    using prober = fork(self, ['probe', service.url.port, 20_000, service.pid]);
    await once(prober, 'message'); // it probes
    const sockets = await run(service.url.port);
    const { slowest, failed } = await stopped(prober);
    const patience = short ? 5 : 1; // the short form may share its disk and its memory with others
    show(`${name}: slowest /livez`, Math.round(slowest), 'at most', 500 * patience, ' ms');
    show(`${name}: /livez that failed`, failed, 'equals', 0);
    const last = await Promise.race([watched(), delay(20_000)]).catch(() => undefined);
    show(`${name}: the service`, last ? 'works' : 'has ended or hangs', 'equals', 'works');
    destroyAll(sockets);
    if (last === undefined) {
      await service.end('SIGKILL');
      service = await start();
      return;
    }
    const each = Math.round((last.memory - before) / 1024 / Math.min(sockets.length, MOST_OPEN));
    show(`${name}: what each adds, after garbage collection`, each, 'at most', memoryEach, ' KiB');
    show(
      `${name}: longest stall of the event loop`,
      Math.round(last.stall),
      'at most',
      100 * patience,
      ' ms',
    );
  };
  await (await fetch(new URL('/openapi.json', service.url))).arrayBuffer(); // made when somebody first asks for it
  // 1,600 clients on this machine send 240 MB in an instant: on a busy one a bare net.Server needs 390 ms to read it.
  for (const count of short ? [400] : [400, 1_600]) {
    await round(`${count} clients that pipeline and never read`, async (port) => {
      const sockets = await openAll(port, count, FLOOD);
      await delay(short ? 2_000 : 10_000);
      return sockets;
    });
  }

  // The longest page there is: 100 animals whose names are 1,000 characters of 4 bytes.
  for (let index = 0; index < 100; index += 1) await request(KEYS[0], '/pets', { method: 'POST', body: animal('🐈'.repeat(1_000)) }); // prettier-ignore
  for (let index = 0; index < 300; index += 1) await request(KEYS[0], '/pets?limit=100'); // compiles
  const page = head('GET /v1/pets?limit=100', `Authorization: Bearer ${KEYS[0]}`);
  await round(
    '200 clients that ask for the longest page and never read',
    async (port) => {
      const sockets = await openAll(port, 200, page.repeat(10));
      await delay(1_000);
      const other = await request(KEYS[1], '/pets?limit=1');
      show('  another key meanwhile: status', other, 'equals', 200);
      return sockets;
    },
    PAGE + 256,
  );
  await round('300 bodies of one key that come slowly', async (port) => {
    const sockets = await openAll(port, 300, post(KEYS[0], 'Content-Length: 2000'), true);
    const drip = setInterval(
      () => sockets.forEach((socket) => socket.writable && socket.write('{')),
      100,
    );
    const others = [];
    for (let index = 0; index < (short ? 20 : 100); index += 1) {
      others.push(await request(KEYS[1], '/pets', { method: 'POST', body: animal('Bella') }));
      await delay(20);
    }
    clearInterval(drip);
    show('  creates of another key that were refused', others.filter((status) => status !== 201).length, 'equals', 0); // prettier-ignore
    return sockets;
  });

  await round('2,500 connections with headers that do not end', async (port) => {
    const sockets = await openAll(port, 2_500, 'GET / HTTP/1.1\r\nX: y');
    const drip = setInterval(
      () => sockets.forEach((socket) => socket.writable && socket.write('y')),
      500,
    );
    await delay(short ? 1_500 : 12_000);
    clearInterval(drip);
    return sockets;
  });

  await round('2,500 idle connections after GET /livez', async (port) => {
    const sockets = await openAll(port, 2_500, head('GET /livez'), true);
    await delay(short ? 1_000 : 5_000);
    return sockets;
  });

  // A regular expression can take a minute to read what takes a microsecond to send.
  const READ = 'Accept Authorization Content-Type Expect Idempotency-Key If-None-Match Origin Traceparent Transfer-Encoding User-Agent X-Forwarded-For X-Request-Id'; // prettier-ignore
  const long = READ.split(' ').flatMap((name) =>
    [' ', ',', ';', '"', '; ', ', ', '\t'].flatMap((part) =>
      [15_000, 60_000].map((length) =>
        post(KEYS[0], `${name}: a${part.repeat(length / part.length)}b`),
      ),
    ),
  );
  await round(`${long.length} headers that repeat a separator`, async (port) => {
    const sockets = await openAll(port, long.length, (index) => long[index], true);
    await delay(2_000);
    return sockets;
  });

  const vectors = [...smugglingVectors(KEYS[0])];
  await round(`${vectors.length} requests that hide another`, async (port) => {
    const sockets = await openAll(port, vectors.length, (index) => vectors[index], true);
    await delay(1_000);
    return sockets;
  });
  let smuggled = 0;
  for (let target = `${service.url}/pets?limit=100`; target !== undefined;) {
    const found = await fetch(target, { headers: { Authorization: `Bearer ${KEYS[1]}` } });
    smuggled += (await found.text()).split('"smuggled"').length - 1;
    const next = /<([^>]+)>; rel="next"/.exec(found.headers.get('link') ?? '')?.[1];
    target = next && new URL(next, service.url).href;
  }
  show('animals that came out of another request', smuggled, 'equals', 0);
  await service.stop();
}

/** Resolves to what a process that was forked from this module has found. */
function stopped(child) {
  const found = new Promise((resolve) => child.once('message', resolve));
  child.send('stop');
  return found;
}

/** Attacks a service in a container of 256 MiB that has a fifth of a CPU. */
async function attackContainer({ short, serve, show }) {
  const groups = controlGroups({ memory: 256 * 1024 ** 2, cpu: 0.2 });
  if (groups === undefined) return console.log('not run: 256 MiB and a fifth of a CPU: no control groups (version 1) can be made here'); // prettier-ignore
  const settings = { API_KEYS: KEYS[0], STORE_URL: 'memory:' };
  const service = await startService(settings, {
    command: groups.command([process.execPath, ...serve]),
  });
  service.ignoreLog();
  const { port } = service.url;
  const children = [];
  const start = (...args) => children[children.push(fork(self, args)) - 1];
  try {
    const headers = { Authorization: `Bearer ${KEYS[0]}`, 'Content-Type': 'application/json' };
    const pets = { method: 'POST', headers, body: animal('Bella') };
    for (let index = 0; index < 100; index += 1) await fetch(`${service.url}/pets`, pets);
    const aborting = start('abort', port);
    const patience = short ? 10_000 : 2_000; // the short form may share its processors with others
    const prober = start('probe', port, patience, service.pid);
    await once(prober, 'message'); // it probes
    await delay(short ? 3_000 : 15_000);
    const { failed } = await stopped(prober);
    show(
      `a fifth of a CPU, 12 clients that abort: /livez that failed or took ${patience / 1_000} s`,
      failed,
      'equals',
      0,
    );
    console.log(`        aborted connections: ${await stopped(aborting)}`);
    const sockets = await openAll(port, 1_950, FLOOD);
    await delay(short ? 4_000 : 20_000);
    const { status } = await fetch(new URL('/livez', service.url), {
      signal: AbortSignal.timeout(short ? 30_000 : 10_000),
    }).catch(() => ({ status: 0 }));
    show('256 MiB, 1,950 clients that pipeline and never read: /livez', status, 'equals', 200);
    destroyAll(sockets);
  } finally {
    for (const child of children) child.kill();
    await Promise.race([service.stop(), delay(10_000)]);
    await service.end('SIGKILL');
    groups.remove();
  }
}

if (process.argv[2] === 'abort') {
  const [port] = process.argv.slice(3);
  const page = head('GET /v1/pets?limit=100', `Authorization: Bearer ${KEYS[0]}`);
  let aborted = 0;
  const abort = async (bytes) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((done) => socket.once('connect', done).once('close', done));
    socket.write(bytes);
    await delay(5);
    socket.resetAndDestroy();
    aborted += 1;
    void abort(bytes);
  };
  for (let count = 0; count < 12; count += 1)
    void abort(count < 2 ? page.slice(0, 40) : page.repeat(30));
  process.on('message', () => process.send(aborted, () => process.exit()));
}

if (process.argv[2] === 'probe') {
  const results = { slowest: 0, failed: 0 };
  const pending = new Set();
  const [port, patience, ...services] = process.argv.slice(3);
  const probe = () => {
    const took = stopwatch('self', ...services);
    const socket = connect(port, '127.0.0.1');
    pending.add(socket);
    let received = '';
    const timer = setTimeout(() => socket.destroy(), Number(patience));
    socket.on('data', (chunk) => (received += chunk)).on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      if (!received.startsWith('HTTP/1.1 200')) results.failed += 1;
      results.slowest = Math.max(results.slowest, took());
      pending.delete(socket);
    });
    socket.write(head('GET /livez', 'Connection: close'));
  };
  const probing = setInterval(probe, 50);
  process.send('probes');
  const stop = async () => {
    clearInterval(probing);
    while (pending.size > 0) await delay(20);
    process.send(results, () => process.exit());
  };
  process.on('message', () => void stop());
}
