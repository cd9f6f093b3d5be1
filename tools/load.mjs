// Load on a service, by bare sockets in a process of their own, so that little of what is measured is theirs.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);

/**
 * Starts a process that loads the service at `port`. Its `run` sends `requests` in rotation for `seconds`, with a new
 * number for each `{number}` in them, from so many `clients`, each one request after another. It resolves to the number
 * of responses by `status`, 0 where the connection closed instead; to the seconds it took; and to the median and the
 * 99th percentile of the latencies, in milliseconds.
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
  #connections = []; // open for the next run too, as those of real clients are
  #sent = 0;

  constructor(port) {
    this.#port = port;
  }

  async run({ clients, requests, seconds }) {
    const status = {};
    const latencies = [];
    const began = performance.now();
    const client = async (_, index) => {
      for (let now = began; now < began + seconds * 1_000;) {
        const connection = (this.#connections[index] ??= this.#connect(index));
        this.#sent += 1;
        const text = requests[this.#sent % requests.length].replace('{number}', this.#sent);
        const code = await connection.send(text);
        status[code] = (status[code] ?? 0) + 1;
        latencies.push(performance.now() - now);
        now = performance.now();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    latencies.sort((one, other) => one - other);
    const took = (performance.now() - began) / 1_000;
    const percentile = (share) => latencies[Math.floor(latencies.length * share)];
    return { status, seconds: took, p50: percentile(0.5), p99: percentile(0.99) };
  }

  #connect(index) {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    let answer;
    let missing = 0;
    let status = 0;
    socket.on('data', (chunk) => {
      if (missing === 0) {
        const text = chunk.toString('latin1', 0, 3_000);
        status = Number(text.slice(9, 12));
        const [, length = 0] = (status !== 304 && /content-length: (\d+)/i.exec(text)) || [];
        missing = text.indexOf('\r\n\r\n') + 4 + Number(length);
        if (/^connection: close/im.test(text)) leave();
      }
      missing -= chunk.length;
      if (missing === 0) answer(status);
    });
    const connection = {
      send: (text) =>
        new Promise((resolve) => {
          answer = resolve;
          socket.write(text);
        }),
    };
    const leave = () => {
      if (this.#connections[index] === connection) this.#connections[index] = undefined;
    };
    socket.on('error', () => {});
    socket.on('end', leave);
    socket.on('close', () => {
      leave();
      answer?.(0);
    });
    return connection;
  }
}

if (process.argv[1] === self) {
  const load = new Load(process.argv[2]);
  process.on('message', (order) => void load.run(order).then((result) => process.send(result)));
}
