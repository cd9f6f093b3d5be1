// Load on a service, by bare sockets in a process of their own, so that little of what is measured is theirs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const MOST_CONNECTIONS = 1_800; // the service holds 2,000

/**
 * Starts a process that loads the service at `port`. Its `run` sends `requests` in rotation for `seconds`, with a new
 * number for each `{number}` in them. `clients` send one request after another; a `rate` a second is sent whatever was
 * answered before. A client gives up after `patience` milliseconds. `run` resolves to the number of requests that were
 * sent, of those that clients gave up (`late`), of responses by `status`; to the seconds it took; and to the 99th
 * percentile of the latencies of successful requests, in milliseconds.
 */
export function startLoad(port) {
  const child = fork(self, [port]);
  return {
    async run(order) {
      child.send(order);
      const [result] = await once(child, 'message');
      return result;
    },
    stop: () => child.kill(),
  };
}

class Load {
  #port;
  #free = [];
  #open = 0;
  #sent = 0;
  #order;
  #counts;
  #latencies;

  constructor(port) {
    this.#port = port;
  }

  /** Connections stay open for the next run, as those of real clients do. */
  async run({ patience = 10_000, ...order }) {
    const { clients = 0, rate = 0, seconds } = order;
    this.#order = { ...order, patience };
    this.#latencies = [];
    this.#counts = { sent: 0, late: 0, status: {} };
    const began = performance.now();
    const end = began + seconds * 1_000;
    const inTurn = async () => {
      while (performance.now() < end) await this.#send();
    };
    await Promise.all(Array.from({ length: clients }, inTurn));
    const took = (performance.now() - began) / 1_000;
    if (rate > 0) {
      for (let due = 0; performance.now() < end; await delay(2)) {
        for (; due < ((performance.now() - began) / 1_000) * rate; due += 1) void this.#send();
      }
      await delay(patience + 200);
    }
    const sorted = this.#latencies.sort((one, other) => one - other);
    return { ...this.#counts, seconds: took, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
  }

  #send() {
    const counts = this.#counts;
    const { requests, patience } = this.#order;
    counts.sent += 1;
    const connection = this.#free.pop() ?? this.#connect();
    if (connection === undefined) return void (counts.late += 1); // the client would wait in vain
    this.#sent += 1;
    const text = requests[this.#sent % requests.length].replace('{number}', this.#sent);
    const began = performance.now();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        counts.late += 1;
        connection.socket.destroy();
        resolve();
      }, patience);
      connection.answer = (status) => {
        clearTimeout(timer);
        counts.status[status] = (counts.status[status] ?? 0) + 1;
        if (status < 400) this.#latencies.push(performance.now() - began);
        if (!connection.socket.destroyed) this.#free.push(connection);
        resolve();
      };
      connection.socket.write(text);
    });
  }

  #connect() {
    if (this.#open >= MOST_CONNECTIONS) return undefined;
    this.#open += 1;
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    const connection = { socket, answer: undefined };
    let missing = 0;
    let status = 0;
    socket.on('data', (chunk) => {
      if (missing === 0) {
        const text = chunk.toString('latin1', 0, 3_000);
        status = Number(text.slice(9, 12));
        const [, length = 0] = (status !== 304 && /content-length: (\d+)/i.exec(text)) || [];
        missing = text.indexOf('\r\n\r\n') + 4 + Number(length);
      }
      missing -= chunk.length;
      if (missing === 0) connection.answer(status);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#open -= 1;
      this.#free = this.#free.filter((other) => other !== connection);
    });
    return connection;
  }
}

if (process.argv[1] === self) {
  const load = new Load(process.argv[2]);
  process.on('message', (order) => void load.run(order).then((result) => process.send(result)));
}
