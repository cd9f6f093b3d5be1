// Ordinary sockets against the listener, most of them without a key: floods of pipelined requests, clients that never
// read, slow headers and bodies, idle connections, and requests with an ambiguous end. Meanwhile another process asks
// for /livez on a new connection every 50 ms.
import { fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { main, startService } from '../service.mjs';
import { inFolder } from './keyed-creates.mjs';
import { stopwatch } from './stopwatch.mjs';

const KEYS = ['first-key-of-the-attack', 'second-key-of-the-attack'];
const self = fileURLToPath(import.meta.url);

const watch = new URL('./stopwatch.mjs', import.meta.url).href;

const head = (line, ...headers) => [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');
const post = (key, ...headers) =>
  head('POST /v1/pets', `Authorization: Bearer ${key}`, 'Content-Type: application/json', ...headers);
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
const open = (sockets) => sockets.filter((socket) => !socket.destroyed).length;

const rssOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]);

/** Requests whose end proxies and servers could see at different places; each hides a second create. */
function* smugglingVectors(key) {
  const hidden = post(key, `Content-Length: ${animal('smuggled').length}`) + animal('smuggled');
  const shown = animal('shown');
  const encodings = ['chunked', 'Chunked', ' chunked', 'chunked ', 'chunked,', 'x, chunked', 'chunked, identity', 'identity', 'chunked\x0b', '"chunked"', 'xchunked', 'chunked\r\nTransfer-Encoding: x', 'chunked, chunked']; // prettier-ignore
  const lengths = [`${shown.length}`, '0', `+${shown.length}`, `0x${shown.length}`, `${shown.length}, ${shown.length}`, `${shown.length}\r\nContent-Length: 0`]; // prettier-ignore
  for (const encoding of encodings) {
    for (const length of lengths.slice(0, 3)) {
      yield post(key, `Content-Length: ${length}`, `Transfer-Encoding: ${encoding}`) + `0\r\n\r\n${hidden}`;
    }
    yield `${post(key, `Transfer-Encoding : ${encoding}`)}0\r\n\r\n${hidden}`;
  }
  for (const length of lengths.slice(2)) yield post(key, `Content-Length: ${length}`) + shown + hidden;
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

export async function attack({ short, show }) {
  if (!existsSync('/proc/self/schedstat')) return 'it reads the memory and waits of a process from /proc';
  return inFolder((folder) => attackIn(folder, { short, show }));
}

async function attackIn(folder, { short, show }) {
  const store = `sqlite:${join(folder, 'animals.db')}`;
  const service = await startService(
    { API_KEYS: KEYS.join(','), STORE_URL: store, WATCH_EVENT_LOOP: '1' },
    { command: [process.execPath, '--import', watch, main, 'serve'] },
  );
  const { port } = service.url;
  const request = async (key, target, init) => {
    const response = await fetch(`${service.url}${target}`, {
      ...init,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    return response.status;
  };
  let prober;
  /** Runs one attack with the prober beside it, and judges what everybody else noticed. */
  const round = async (name, connections, run) => {
    const before = rssOf(service.pid);
    await service.ask('SIGUSR2', 'stall');
    prober = fork(self, ['probe', port, service.pid]);
    let highest = 0;
    const watching = setInterval(() => (highest = Math.max(highest, rssOf(service.pid))), 20);
    await delay(200); // the prober has begun
    await run();
    clearInterval(watching);
    const probes = new Promise((resolve) => prober.once('message', resolve));
    prober.send('stop');
    const { slowest, failed } = await probes;
    const { stall } = await service.ask('SIGUSR2', 'stall');
    // What a garbage collection has yet to free counts, too: any load leaves some.
    const each = Math.max(0, Math.round((highest - before - 128 * 1024) / connections));
    show(`${name}: memory for each connection beyond 128 MiB`, each, 'at most', 256, ' KiB');
    const patience = short ? 5 : 1; // the short form may share its disk and its memory with others
    show(`${name}: slowest /livez`, Math.round(slowest), 'at most', 500 * patience, ' ms');
    show(`${name}: /livez that failed`, failed, 'equals', 0);
    show(`${name}: longest stall of the event loop`, Math.round(stall), 'at most', 100 * patience, ' ms');
  };
  try {
    // What garbage the same load leaves when its clients read.
    const polite = await openAll(port, 100, head('GET /openapi.json').repeat(100), true);
    await delay(2_000);
    destroyAll(polite);
    const flood = head('GET /openapi.json').repeat(60) + 'GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(5000);
    // 1,500 clients on this machine send 240 MB in an instant: on a busy one a bare net.Server needs 390 ms to read it.
    for (const count of short ? [100] : [100, 1_500]) {
      const flooding = async () => {
        const sockets = await openAll(port, count, flood);
        await delay(short ? 2_000 : 10_000);
        destroyAll(sockets);
      };
      await round(`${count} clients that pipeline and never read`, count, flooding);
    }

    // The longest page there is: 100 animals whose names are 1,000 characters of 4 bytes.
    for (let index = 0; index < 100; index += 1) await request(KEYS[0], '/pets', { method: 'POST', body: animal('🐈'.repeat(1_000)) }); // prettier-ignore
    for (let index = 0; index < 300; index += 1) await request(KEYS[0], '/pets?limit=100'); // what reading it leaves
    const page = head('GET /v1/pets?limit=100', `Authorization: Bearer ${KEYS[0]}`);
    await round('200 clients that ask for the longest page and never read', 200, async () => {
      const sockets = await openAll(port, 200, page.repeat(10));
      await delay(1_000);
      const other = await request(KEYS[1], '/pets?limit=1');
      show('  another key meanwhile: status', other, 'equals', 200);
      destroyAll(sockets);
    });
    if (!short) {
      // So few that none is refused: each is sent more than the operating system takes for a client that does not read.
      await round('8 clients that ask for the longest page 40 times and never read', 8, async () => {
        const sockets = await openAll(port, 8, page.repeat(40));
        await delay(26_000);
        for (const socket of sockets) socket.resume(); // else a closed connection would not be seen
        await delay(3_000);
        show('  readers that were stalled for 26 s and are still connected', open(sockets), 'equals', 0);
        destroyAll(sockets);
      });
    }

    await round('300 bodies of one key that come slowly', 300, async () => {
      const sockets = await openAll(port, 300, post(KEYS[0], 'Content-Length: 2000'), true);
      const drip = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('{')), 100);
      const others = [];
      for (let index = 0; index < (short ? 20 : 100); index += 1) {
        others.push(await request(KEYS[1], '/pets', { method: 'POST', body: animal('Bella') }));
        await delay(20);
      }
      clearInterval(drip);
      show('  creates of another key that were refused', others.filter((status) => status !== 201).length, 'equals', 0); // prettier-ignore
      destroyAll(sockets);
    });

    await round('2,500 connections with headers that do not end', 2_500, async () => {
      const sockets = await openAll(port, 2_500, 'GET / HTTP/1.1\r\nX: y');
      const drip = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write('y')), 500);
      await delay(short ? 1_500 : 12_000);
      clearInterval(drip);
      destroyAll(sockets);
    });

    await round('2,500 idle connections after GET /livez', 2_500, async () => {
      const sockets = await openAll(port, 2_500, head('GET /livez'), true);
      await delay(short ? 1_000 : 5_000);
      destroyAll(sockets);
    });

    // A regular expression can take a minute to read what takes a microsecond to send.
    const READ = 'Accept Authorization Content-Type Expect Idempotency-Key If-None-Match Origin Traceparent Transfer-Encoding User-Agent X-Forwarded-For X-Request-Id'; // prettier-ignore
    const long = READ.split(' ').flatMap((name) =>
      [' ', ',', ';', '"', '; ', ', ', '\t'].flatMap((part) =>
        [15_000, 60_000].map((length) => post(KEYS[0], `${name}: a${part.repeat(length / part.length)}b`)),
      ),
    );
    await round(`${long.length} headers that repeat a separator`, long.length, async () => {
      const sockets = await openAll(port, long.length, (index) => long[index], true);
      await delay(2_000);
      destroyAll(sockets);
    });

    const vectors = [...smugglingVectors(KEYS[0])];
    await round(`${vectors.length} requests that hide another`, vectors.length, async () => {
      const sockets = await openAll(port, vectors.length, (index) => vectors[index], true);
      await delay(1_000);
      destroyAll(sockets);
    });
    let smuggled = 0;
    for (let target = `${service.url}/pets?limit=100`; target !== undefined;) {
      const found = await fetch(target, { headers: { Authorization: `Bearer ${KEYS[1]}` } });
      smuggled += (await found.text()).split('"smuggled"').length - 1;
      const next = /<([^>]+)>; rel="next"/.exec(found.headers.get('link') ?? '')?.[1];
      target = next && new URL(next, service.url).href;
    }
    show('animals that came out of another request', smuggled, 'equals', 0);
  } finally {
    prober?.kill();
    await service.stop();
  }
}

if (process.argv[2] === 'probe') {
  const results = { slowest: 0, failed: 0 };
  const pending = new Set();
  const [port, service] = process.argv.slice(3);
  const probe = () => {
    const took = stopwatch('self', service);
    const socket = connect(port, '127.0.0.1');
    pending.add(socket);
    let received = '';
    socket.setTimeout(20_000, () => socket.destroy());
    socket.on('data', (chunk) => (received += chunk)).on('error', () => {});
    socket.on('close', () => {
      if (!received.startsWith('HTTP/1.1 200')) results.failed += 1;
      results.slowest = Math.max(results.slowest, took());
      pending.delete(socket);
    });
    socket.write(head('GET /livez', 'Connection: close'));
  };
  const timer = setInterval(probe, 50);
  const stop = async () => {
    clearInterval(timer);
    while (pending.size > 0) await delay(20);
    process.send(results, () => process.exit());
  };
  process.on('message', () => void stop());
}
