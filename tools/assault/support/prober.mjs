// A process that requests /livez on a new connection every 50 ms: PORT PATIENCE PID. On a message it sends how many
// requests `failed`, also for want of a response after PATIENCE milliseconds, and how long the `slowest` took. PID is the
// service, whose waits for a processor do not count.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { stopwatch } from './stopwatch.mjs';

const [, , port, patience, service] = process.argv;
let failed = 0;
let slowest = 0;
let pending = 0;

function probe() {
  const elapsed = stopwatch('self', service);
  let received = '';
  pending += 1;
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), Number(patience));
  socket.on('data', (chunk) => (received += chunk));
  socket.on('close', () => {
    clearTimeout(timer);
    pending -= 1;
    if (!received.startsWith('HTTP/1.1 200')) failed += 1;
    slowest = Math.max(slowest, elapsed());
  });
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
}

async function finish() {
  clearInterval(probing);
  while (pending > 0) await delay(20);
  process.send({ failed, slowest }, () => process.exit());
}

const probing = setInterval(probe, 50);
process.on('message', () => void finish());
process.on('disconnect', () => process.exit()); // the attack has ended before
process.send('ready');
