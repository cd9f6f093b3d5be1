// The processes that `hostile` starts beside the service: one asks for /livez and tells how long that took, one aborts
// its requests without end.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stopwatch } from './stopwatch.mjs';

const self = fileURLToPath(import.meta.url);

export const head = (line, ...headers) =>
  [`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n');

/** Resolves when the socket is open, or has failed. */
export const opened = (socket) =>
  new Promise((done) => socket.once('connect', done).once('close', done));

/** Starts one of these processes. `finish` resolves to what it has found. */
export async function startClient(...args) {
  const child = fork(self, args);
  await once(child, 'message'); // it has begun
  const finish = async () => {
    child.send('finish');
    return (await once(child, 'message'))[0];
  };
  return { finish, [Symbol.dispose]: () => child.kill() };
}

/** Asks for /livez every 50 ms. What has no response after `patience` milliseconds has failed. */
function probe(port, patience, service) {
  const found = { slowest: 0, failed: 0 };
  let pending = 0;
  const ask = () => {
    const took = stopwatch('self', service);
    let received = '';
    pending += 1;
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    const timer = setTimeout(() => socket.destroy(), Number(patience));
    socket.on('data', (chunk) => (received += chunk));
    socket.on('close', () => {
      clearTimeout(timer);
      if (!received.startsWith('HTTP/1.1 200')) found.failed += 1;
      found.slowest = Math.max(found.slowest, took());
      pending -= 1;
    });
    socket.write(head('GET /livez', 'Connection: close'));
  };
  const asking = setInterval(ask, 50);
  return async () => {
    clearInterval(asking);
    while (pending > 0) await delay(20);
    return found;
  };
}

/** Twelve clients that ask for the longest page again and again, and abort each request after 5 ms. */
function abort(port, key) {
  const page = head('GET /v1/pets?limit=100', `Authorization: Bearer ${key}`);
  const client = async (bytes) => {
    for (;;) {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      await opened(socket);
      socket.write(bytes);
      await delay(5);
      socket.resetAndDestroy();
    }
  };
  for (let count = 0; count < 12; count += 1)
    void client(count < 2 ? page.slice(0, 40) : page.repeat(30));
  return () => 'ended';
}

if (process.argv[1] === self) {
  const [what, ...args] = process.argv.slice(2);
  const finish = (what === 'probe' ? probe : abort)(...args);
  const reply = async () => process.send(await finish(), () => process.exit());
  process.on('message', () => void reply());
  process.send('begun');
}
