// Loads the service at a port of 127.0.0.1, by bare sockets in a process of its own, so that little of what is measured
// is the load. Forked by measure.mjs. To `{ clients, request, seconds }` it replies with the number of `requests` and of
// those that `failed`, and the `median` of the latencies in milliseconds.
import { connect } from 'node:net';

const [, , port] = process.argv;

/**
 * Makes a client. It sends one request after another on a connection that is kept alive, or on a new one after the service
 * has closed it, and resolves to the status of the response, or to 0 if the connection closed instead.
 */
function newClient() {
  let connection;
  let missing = 0; // bytes of the response
  let status = 0;
  let isLast = false; // of its connection
  let settle;

  const read = (chunk) => {
    if (missing === 0) {
      const text = chunk.toString('latin1', 0, 3_000);
      status = Number(text.slice(9, 12));
      const [, length = 0] = /content-length: (\d+)/i.exec(text) ?? [];
      missing = text.indexOf('\r\n\r\n') + 4 + Number(length);
      isLast = /^connection: close/im.test(text);
    }
    missing -= chunk.length;
    if (missing > 0) return;
    if (isLast) connection = undefined;
    settle(status);
  };
  const open = () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {}).on('data', read);
    socket.on('close', () => {
      if (connection !== socket) return;
      connection = undefined;
      settle(0); // of no effect after a response
    });
    return socket;
  };
  return (request) => {
    connection ??= open();
    connection.write(request);
    return new Promise((resolve) => {
      settle = resolve;
    });
  };
}

const clients = Array.from({ length: 100 }, newClient);

async function load({ clients: count, request, seconds }) {
  const latencies = [];
  let failed = 0;
  const end = performance.now() + seconds * 1_000;
  const work = async (send) => {
    for (let began = performance.now(); began < end; began = performance.now()) {
      const status = await send(request);
      if (status < 200 || status >= 300) failed += 1;
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(clients.slice(0, count).map(work));
  latencies.sort((one, other) => one - other);
  const median = latencies[Math.floor(latencies.length / 2)];
  process.send({ requests: latencies.length, failed, median });
}

process.on('message', (order) => void load(order));
