// Measures the built service: requests per second and CPU time of its process per request, for each operation,
// with 64 keep-alive clients on this machine. Usage: npm run measure [-- SECONDS], after npm run build.
// STORE_URL chooses the store (a temporary SQLite file when not set). Clients are bare sockets, in a process
// of their own, so that as little as possible of what is measured is theirs.
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** CPU time that a process has used, in microseconds (Linux; `undefined` elsewhere). */
function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return undefined;
  }
}

async function start(folder) {
  const program = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));
  const env = {
    STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
    ...process.env,
    PORT: '0',
    API_KEYS: KEY,
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'info', // what it runs at, and the line that says the port
  };
  const service = spawn(process.execPath, [program, 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const port = await new Promise((resolve, reject) => {
    service.once('exit', () => reject(new Error('the service did not start')));
    let log = '';
    service.stderr.on('data', (chunk) => {
      if (log !== undefined) log += chunk;
      const found = /"url":"http:\/\/127\.0\.0\.1:(\d+)/.exec(log ?? '');
      if (found) [log] = [undefined, resolve(Number(found[1]))];
    });
  });
  return { service, port };
}

async function measure(seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-measure-'));
  const { service, port } = await start(folder);
  const loader = fork(self, ['--load']);
  const run = (operation, length) =>
    new Promise((resolve) => {
      loader.once('message', resolve);
      loader.send({ port, operation, seconds: length });
    });
  try {
    console.log(`${CLIENTS} clients, ${seconds} s each, Node.js ${process.version}`);
    for (const operation of Object.keys(OPERATIONS)) {
      await run(operation, 1); // warm up
      const before = cpuOf(service.pid);
      const { requests, failed, elapsed, p50, p99 } = await run(operation, seconds);
      const cpu = before === undefined ? '-' : ((cpuOf(service.pid) - before) / requests).toFixed(1);
      console.log(
        `${operation.padEnd(15)} ${Math.round(requests / elapsed)}/s  ${cpu} us CPU each  ` +
          `p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms  ${failed} failed`,
      );
    }
  } finally {
    loader.kill();
    service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === '--load') {
  process.on('message', (order) => void load(order).then((result) => process.send(result)));
} else {
  await measure(Number(process.argv[2] ?? 5));
}
