// Measures the built service: requests per second and CPU time of its process per request, for each operation,
// with 64 keep-alive clients on this machine. Usage: npm run measure [-- SECONDS [--beside-fastify]], after npm run
// build. STORE_URL chooses the store (a temporary SQLite file when not set). Clients are bare sockets, in a process
// of their own, so that as little as possible of what is measured is theirs. With --beside-fastify (after npm install
// --prefix tools/peers) it is measured in turn with tools/peers/fastify-service.mjs, five times: medians and ratios.
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startService } from './service.mjs';

const CLIENTS = 64;
const KEY = 'measuring-key-0123456789';
const self = fileURLToPath(import.meta.url);

const message = (line, body = '') =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n` +
  (body ? `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}` : '\r\n');

const OPERATIONS = {
  create: message('POST /v1/pets', '{"name":"Bella","categoryId":7}'),
  list: message('GET /v1/pets'),
  'list by status': message('GET /v1/pets?status=available&limit=20'),
  get: message('GET /v1/pets/7'),
};

/** One client: sends the request again whenever its answer is complete. */
function client(port, request, deadline, counts) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sentAt = 0;
    let missing = 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', resolve);
    socket.on('data', (chunk) => {
      if (missing === 0) {
        const text = chunk.toString('latin1');
        const head = text.indexOf('\r\n\r\n') + 4;
        if (!text.startsWith('HTTP/1.1 20')) counts.failed += 1;
        missing = Number(/content-length: (\d+)/i.exec(text)?.[1]) + head;
      }
      missing -= chunk.length;
      if (missing > 0) return;
      const now = performance.now();
      counts.latencies.push(now - sentAt);
      if (now < deadline) send();
      else socket.end();
    });
  });
}

async function load({ port, operation, seconds }) {
  const counts = { latencies: [], failed: 0 };
  const began = performance.now();
  const deadline = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: CLIENTS }, () => client(port, OPERATIONS[operation], deadline, counts)),
  );
  const sorted = counts.latencies.sort((one, other) => one - other);
  const at = (share) => sorted[Math.floor(sorted.length * share)];
  const elapsed = (performance.now() - began) / 1000;
  return { requests: sorted.length, failed: counts.failed, elapsed, p50: at(0.5), p99: at(0.99) };
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** CPU time that a process has used, in microseconds (Linux; `undefined` elsewhere). */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return undefined;
  }
}

const SERVICES = {
  'animal-store': '../build/src/bootstrap/main.js',
  fastify: './peers/fastify-service.mjs',
};

function start(name, folder) {
  const program = fileURLToPath(new URL(SERVICES[name], import.meta.url));
  // LOG_LEVEL is what it runs at, and has the line that says the port.
  const settings = {
    STORE_URL: `sqlite:${join(folder, `${name}.db`)}`,
    ...process.env,
    PORT: '0',
    API_KEYS: KEY,
  };
  return startService({ ...settings, LOG_FORMAT: 'json', LOG_LEVEL: 'info' }, [
    process.execPath,
    program,
    'serve',
  ]);
}

/** Each operation on each service in turn, so that what else this machine does is the same for both. */
async function measure(seconds, names, rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-measure-'));
  const loader = fork(self, ['--load']);
  const run = (port, operation, length) =>
    new Promise((resolve) => {
      loader.once('message', resolve);
      loader.send({ port, operation, seconds: length });
    });
  const measureOnce = async ({ url: { port }, pid }, operation) => {
    await run(port, operation, 1); // warm up
    const before = cpuOf(pid);
    const { requests, failed, elapsed, p50, p99 } = await run(port, operation, seconds);
    const cpu = before === undefined ? NaN : (cpuOf(pid) - before) / requests;
    return { rate: requests / elapsed, cpu, p50, p99, failed };
  };
  const services = [];
  try {
    for (const name of names) services.push({ name, ...(await start(name, folder)) });
    console.log(`${CLIENTS} clients, ${seconds} s each, ${rounds} times, Node.js ${process.version}`);
    for (const operation of Object.keys(OPERATIONS)) {
      const results = new Map(names.map((name) => [name, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const service of services) {
          results.get(service.name).push(await measureOnce(service, operation));
        }
      }
      const middle = (name, what) => median(results.get(name).map((result) => result[what]));
      for (const name of names) {
        const beside =
          name !== names[0]
            ? `  ${(middle(name, 'cpu') / middle(names[0], 'cpu')).toFixed(2)} times the CPU time of ${names[0]}`
            : '';
        console.log(
          `${operation.padEnd(15)} ${name.padEnd(12)} ${Math.round(middle(name, 'rate'))}/s  ` +
            `${middle(name, 'cpu').toFixed(1)} us CPU each  p50 ${middle(name, 'p50').toFixed(2)} ms  ` +
            `p99 ${middle(name, 'p99').toFixed(2)} ms  ${middle(name, 'failed')} failed${beside}`,
        );
      }
    }
  } finally {
    loader.kill();
    for (const { stop } of services) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === '--load') {
  process.on('message', (order) => void load(order).then((result) => process.send(result)));
} else {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'beside-fastify': { type: 'boolean', default: false } },
  });
  const seconds = Number(positionals[0] ?? 5);
  if (values['beside-fastify']) await measure(seconds, ['animal-store', 'fastify'], 5);
  else await measure(seconds, ['animal-store'], 1);
}
