// Ordinary sockets against the listener, most of them without a key: floods of pipelined requests, clients that never
// read, slow headers and bodies, idle connections, and requests with an ambiguous end. Meanwhile another process asks
// for /livez on a new connection every 50 ms. Then, in a container of 256 MiB with a fifth of a CPU: clients that abort,
// and 1,950 that pipeline and never read.
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { inFolder, main, startService } from '../service.mjs';
import { controlGroups } from './support/control-groups.mjs';
import { head, opened, startClient } from './support/hostile-client.mjs';

const [KEY, OTHER_KEY] = ['first-key-of-the-attack', 'second-key-of-the-attack'];
/** 127 KB of requests without a key. */
const FLOOD =
  head('GET /openapi.json').repeat(60) + 'GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(5_000);
/** The longest page: 100 animals whose names are 1,000 characters of 4 bytes. */
const PAGE_KIB = 400;
/** The service's highest number of connections. */
const MOST_OPEN = 2_000;

const WATCH = new URL('./support/watch-event-loop.mjs', import.meta.url).href;
const OPTIONS = ['--expose-gc', '--import', WATCH];
const SERVE = [main, 'serve'];

const animal = (name) => JSON.stringify({ name, categoryId: 1 });
const headersOf = (key) => ({ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' });
const linesOf = (key) => Object.entries(headersOf(key)).map((header) => header.join(': '));
const post = (...headers) => head('POST /v1/pets', ...linesOf(KEY), ...headers);
const lengthOf = (body) => `Content-Length: ${body.length}`;
const get = (target) => head(`GET ${target}`, `Authorization: Bearer ${KEY}`);

/** Opens a socket for each of the texts, sends it, and reads only if `reads`. Waits until all are open. */
async function openAll(port, texts, reads = true) {
  const sockets = texts.map((text) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    if (reads) socket.resume();
    else socket.pause();
    socket.write(text);
    return socket;
  });
  await Promise.race([Promise.all(sockets.map(opened)), delay(5_000)]);
  return sockets;
}

const many = (count, text) => Array.from({ length: count }, () => text);

/** An attack of clients that send these texts, and read. */
const reading = (texts, milliseconds) => async (port) => {
  const sockets = await openAll(port, texts);
  await delay(milliseconds);
  return sockets;
};

/** Sends one more character on each socket every `pause` milliseconds. Returns a function that stops it. */
function drip(sockets, character, pause) {
  const write = (socket) => socket.writable && socket.write(character);
  const dripping = setInterval(() => sockets.forEach(write), pause);
  return () => clearInterval(dripping);
}

/** A regular expression can take a minute to read what takes a microsecond to send. */
function headersThatRepeat() {
  const names =
    'Accept Authorization Content-Type Expect Idempotency-Key If-None-Match Origin Traceparent ' +
    'Transfer-Encoding User-Agent X-Forwarded-For X-Request-Id';
  const values = [' ', ',', ';', '"', '; ', ', ', '\t'].flatMap((part) =>
    [15_000, 60_000].map((length) => `a${part.repeat(length / part.length)}b`),
  );
  return names.split(' ').flatMap((name) => values.map((value) => post(`${name}: ${value}`)));
}

/** Requests whose end proxies and servers could see at different places; each hides a second create. */
function requestsThatHide() {
  const hidden = post(lengthOf(animal('smuggled'))) + animal('smuggled');
  const shown = animal('shown');
  const encodings = (
    'chunked|Chunked| chunked|chunked |chunked,|x, chunked|xchunked|chunked, identity|identity|' +
    'chunked\x0b|"chunked"|chunked, chunked|chunked\r\nTransfer-Encoding: x'
  ).split('|');
  const { length } = shown;
  const lengths =
    `+${length}|0x${length}|${length}, ${length}|${length}\r\nContent-Length: 0`.split('|');
  const sizes = '0x0|+0|-0| 0|0 |0;\n|G||0\n'.split('|');
  const lines = 'X\rY: z|X: a\n b| X: y|X\0: y|: y|X: \r\n\tfolded|Content-Length\t: 0'.split('|');
  const encoded = encodings.flatMap((encoding) =>
    [length, '0', lengths[0]]
      .map((size) => post(`Content-Length: ${size}`, `Transfer-Encoding: ${encoding}`))
      .concat(post(`Transfer-Encoding : ${encoding}`)),
  );
  const requests = [
    encoded.map((request) => `${request}0\r\n\r\n`),
    lengths.map((size) => post(`Content-Length: ${size}`) + shown),
    sizes.map((size) => `${post('Transfer-Encoding: chunked')}${size}\r\n\r\n`),
    lines.map((line) => post(line, lengthOf(shown)) + shown.slice(1)),
  ];
  return requests.flat().map((request) => request + hidden);
}

export async function attack({ short, show }) {
  if (!existsSync('/proc/self/schedstat')) return 'the waits of a process in /proc';
  await inFolder((folder) => attackIn(folder, short, show));
  return attackContainer(short, show);
}

async function attackIn(folder, short, show) {
  const settings = {
    API_KEYS: `${KEY},${OTHER_KEY}`,
    STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
  };
  const command = [process.execPath, ...OPTIONS, ...SERVE];
  await using service = await startService(settings, { command, ipc: true });

  /** Resolves to the status of a request, or to `none`. */
  const request = async (key, target, init) => {
    const signal = AbortSignal.timeout(10_000);
    const options = { ...init, headers: headersOf(key), signal };
    const response = await fetch(`${service.url}${target}`, options).catch(() => undefined);
    await response?.arrayBuffer();
    return response?.status ?? 'none';
  };
  const add = (key, name) => request(key, '/pets', { method: 'POST', body: animal(name) });

  /**
   * Runs one attack with the prober beside it, judges what everybody else noticed, and closes the attack's sockets. Each
   * may add `maxKiB` to the memory of the service.
   */
  const round = async (name, run, maxKiB = 256) => {
    const { memory: before } = await service.ask();
    using prober = await startClient('probe', service.url.port, 20_000, service.pid);
    const sockets = await run(service.url.port);
    const { slowest, failed } = await prober.finish();
    const slack = short ? 5 : 1; // the short form may share its disk and its memory with others
    show(`${name}: slowest /livez`, Math.round(slowest), 'at most', 500 * slack, ' ms');
    show(`${name}: /livez that failed`, failed, 'equals', 0);
    const last = await Promise.race([service.ask(), service.end(), delay(20_000)]);
    sockets.forEach((socket) => socket.destroy());
    show(`${name}: the service`, last?.memory ? 'works' : 'ended or hangs', 'equals', 'works');
    if (!last?.memory) throw new Error('the other attacks need a service');
    const each = Math.round((last.memory - before) / 1024 / Math.min(sockets.length, MOST_OPEN));
    const stall = Math.round(last.stall);
    show(`${name}: what each adds, after garbage collection`, each, 'at most', maxKiB, ' KiB');
    show(`${name}: longest stall of the event loop`, stall, 'at most', 100 * slack, ' ms');
  };

  await (await fetch(new URL('/openapi.json', service.url))).arrayBuffer(); // made on the first request
  // 1,600 clients on this machine send 240 MB in an instant: on a busy one a bare net.Server needs 390 ms to read it.
  for (const count of short ? [400] : [400, 1_600]) {
    await round(`${count} clients that pipeline and never read`, async (port) => {
      const sockets = await openAll(port, many(count, FLOOD), false);
      await delay(short ? 2_000 : 10_000);
      return sockets;
    });
  }

  for (let index = 0; index < 100; index += 1) await add(KEY, '🐈'.repeat(1_000));
  for (let index = 0; index < 300; index += 1) await request(KEY, '/pets?limit=100'); // warms up the compiler
  const neverReads = async (port) => {
    const sockets = await openAll(port, many(200, get('/v1/pets?limit=100').repeat(10)), false);
    await delay(1_000);
    const status = await request(OTHER_KEY, '/pets?limit=1');
    show('  another key meanwhile: status', status, 'equals', 200);
    return sockets;
  };
  await round(
    '200 clients that ask for the longest page and never read',
    neverReads,
    PAGE_KIB + 256,
  );

  await round('300 bodies of one key that come slowly', async (port) => {
    const sockets = await openAll(port, many(300, post('Content-Length: 2000')));
    const endDrip = drip(sockets, '{', 100);
    let refused = 0;
    for (let index = 0; index < (short ? 20 : 100); index += 1) {
      if ((await add(OTHER_KEY, 'Bella')) !== 201) refused += 1;
      await delay(20);
    }
    endDrip();
    show('  creates of another key that were refused', refused, 'equals', 0);
    return sockets;
  });

  await round('2,500 connections with headers that do not end', async (port) => {
    const sockets = await openAll(port, many(2_500, 'GET / HTTP/1.1\r\nX: y'), false);
    const endDrip = drip(sockets, 'y', 500);
    await delay(short ? 1_500 : 12_000);
    endDrip();
    return sockets;
  });

  const idle = reading(many(2_500, head('GET /livez')), short ? 1_000 : 5_000);
  await round('2,500 idle connections after GET /livez', idle);
  const long = headersThatRepeat();
  await round(`${long.length} headers that repeat a separator`, reading(long, 2_000));
  const hiding = requestsThatHide();
  await round(`${hiding.length} requests that hide another`, reading(hiding, 1_000));

  let smuggled = 0;
  for (let target = `${service.url}/pets?limit=100`; target !== undefined;) {
    const page = await fetch(target, { headers: headersOf(OTHER_KEY) });
    smuggled += (await page.text()).split('"smuggled"').length - 1;
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    target = next && new URL(next, target).href;
  }
  show('animals that came out of another request', smuggled, 'equals', 0);
}

/** Attacks a service in a container of 256 MiB that has a fifth of a CPU. */
async function attackContainer(short, show) {
  const groups = controlGroups({ memory: 256 * 1024 ** 2, cpu: 0.2 });
  if (groups === undefined) return 'control groups of version 1 for its last two figures';
  const command = groups.command([process.execPath, ...SERVE]);
  const service = await startService({ API_KEYS: KEY, STORE_URL: 'memory:' }, { command });
  const { port } = service.url;
  try {
    const pet = { method: 'POST', headers: headersOf(KEY), body: animal('Bella') };
    for (let index = 0; index < 100; index += 1) await fetch(`${service.url}/pets`, pet);
    using aborting = await startClient('abort', port, KEY);
    const patience = short ? 10_000 : 2_000; // the short form may share its processors with others
    using prober = await startClient('probe', port, patience, service.pid);
    await delay(short ? 3_000 : 15_000);
    const { failed } = await prober.finish();
    const missed = `/livez that failed or took ${patience / 1_000} s`;
    show(`a fifth of a CPU, 12 clients that abort: ${missed}`, failed, 'equals', 0);
    await aborting.finish();
    const sockets = await openAll(port, many(1_950, FLOOD), false);
    await delay(short ? 4_000 : 20_000);
    const signal = AbortSignal.timeout(short ? 30_000 : 10_000);
    const livez = await fetch(new URL('/livez', service.url), { signal }).catch(() => undefined);
    const flood = '256 MiB, 1,950 clients that pipeline and never read: /livez';
    show(flood, livez?.status ?? 0, 'equals', 200);
    sockets.forEach((socket) => socket.destroy());
  } finally {
    await Promise.race([service.stop(), delay(10_000)]);
    await service.end('SIGKILL');
    groups.remove();
  }
  return undefined;
}
