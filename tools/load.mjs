// Loads a service on 127.0.0.1 by bare sockets, in a process of its own: the CPU time of the service holds none of it.
// Forked by measure.mjs. To `{ port, request, clients, seconds }` it replies with the number of `requests`, and of those
// that `failed`.
import { connect } from 'node:net';

/** Sends a request again and again on one connection. Resolves when the time is over, or the connection is. */
function client({ port, request }, end) {
  const counts = { requests: 0, failed: 0 };
  // Bytes of the response; 0 before its first chunk, which must hold the whole head, with a Content-Length.
  let missing = 0;
  const { promise, resolve } = Promise.withResolvers();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('data', (chunk) => {
    if (missing === 0) {
      const text = chunk.toString('latin1', 0, 3_000);
      if (!/^HTTP\/1.1 2/.test(text)) counts.failed += 1;
      const [, length = 0] = /content-length: (\d+)/i.exec(text) ?? [];
      missing = text.indexOf('\r\n\r\n') + 4 + Number(length);
    }
    missing -= chunk.length;
    if (missing > 0) return;
    counts.requests += 1;
    if (performance.now() < end) socket.write(request);
    else socket.destroy();
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      if (performance.now() < end) counts.failed += 1;
      resolve(counts);
    });
  socket.write(request);
  return promise;
}

async function load(order) {
  const end = performance.now() + order.seconds * 1_000;
  const counts = await Promise.all(Array.from({ length: order.clients }, () => client(order, end)));
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
  process.send({ requests: sum('requests'), failed: sum('failed') });
}

process.on('message', (order) => void load(order));
