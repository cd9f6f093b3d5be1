// More requests than the service can answer, in an open loop: they come at their times, whether or not earlier ones were
// answered. First the capacity is measured, then one key sends 1, 2 and 4 times as much, its clients giving up after a
// second; a second key sends a tenth of the capacity at the same time.
import { fork } from 'node:child_process';
import { connect } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startService } from '../service.mjs';

const KEYS = ['greedy-key-of-the-attack', 'modest-key-of-the-attack'];
const PATIENCE = 1_000; // of a client, in milliseconds
const MOST_CONNECTIONS = 1_800; // the service holds 2,000
/** Clients that show the capacity: many, since many connections cost the service and its clients more each. */
const IN_TURN = 1_000;
const self = fileURLToPath(import.meta.url);

const page = (key) => `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

export async function attack({ short, show }) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-overload-'));
  const service = await startService({
    API_KEYS: KEYS.join(','),
    STORE_URL: `sqlite:${join(folder, 'animals.db')}`,
  });
  service.ignoreLog();
  const port = Number(service.url.port);
  const seconds = short ? 2 : 8;
  const loaders = KEYS.map(() => fork(self, ['load']));
  const run = (index, rate) =>
    new Promise((resolve) => {
      loaders[index].once('message', resolve);
      loaders[index].send({ port, key: KEYS[index], rate, seconds });
    });
  try {
    for (let count = 0; count < 100; count += 1) {
      const headers = { Authorization: `Bearer ${KEYS[0]}`, 'Content-Type': 'application/json' };
      await fetch(`${service.url}/pets`, {
        method: 'POST',
        headers,
        body: '{"name":"Bella","categoryId":1}',
      });
    }
    await Promise.all(KEYS.map((_, index) => run(index, 0))); // to warm up
    for (const times of [1, 2, 4]) {
      const capacity = (await run(0, 0)).served / seconds; // each time anew: a shared machine changes
      console.log(`capacity: ${Math.round(capacity)} pages of 100 a second, from ${IN_TURN} clients in turn`);
      const [greedy, modest] = await Promise.all([run(0, capacity * times), run(1, capacity / 10)]);
      const name = `${times} times the capacity`;
      const goodput = Math.round((100 * (greedy.served + modest.served)) / seconds / capacity);
      console.log(
        `        ${name}: sent ${Math.round(greedy.sent / seconds)}/s, refused ${greedy.refused}, given up ${greedy.late}`,
      );
      if (times > 1) {
        show(`${name}: served, of the capacity`, goodput, 'at least', times === 2 ? 80 : 60, ' %');
        show(`${name}: 503 or 429`, greedy.refused, 'at least', 1);
      }
      show(`${name}: p99 of what is served`, greedy.p99, 'at most', 1_000, ' ms');
      show(`${name}: p99 of the second key`, modest.p99, 'at most', 100, ' ms');
      show(`${name}: refusals and give-ups of the second key`, modest.refused + modest.late, 'equals', 0);
    }
  } finally {
    for (const loader of loaders) loader.kill();
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Sends requests at a rate, each on a connection that is free; with a rate of 0, from `IN_TURN` clients in turn. */
class Load {
  #free = [];
  #open = 0;
  #latencies;
  #counts;

  constructor({ port, key }) {
    Object.assign(this, { port, request: page(key) });
  }

  /** Connections that are left stay open for the next run, as those of real clients do. */
  async run({ rate, seconds }) {
    this.#latencies = [];
    this.#counts = { sent: 0, refused: 0, late: 0 };
    const began = performance.now();
    const end = began + seconds * 1_000;
    if (rate === 0) await Promise.all(Array.from({ length: IN_TURN }, () => this.#inTurn(end)));
    else {
      for (let due = 0; performance.now() < end; await delay(2)) {
        for (; due < ((performance.now() - began) / 1_000) * rate; due += 1) void this.#send();
      }
      await delay(PATIENCE + 200);
    }
    const sorted = this.#latencies.sort((one, other) => one - other);
    return { ...this.#counts, served: sorted.length, p99: Math.round(at(sorted, 0.99)) };
  }

  async #inTurn(end) {
    while (performance.now() < end) await this.#send();
  }

  #send() {
    const counts = this.#counts;
    counts.sent += 1;
    const connection = this.#free.pop() ?? this.#connect();
    if (connection === undefined) return void (counts.late += 1); // the client would wait in vain
    const began = performance.now();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        counts.late += 1;
        connection.socket.destroy();
        resolve();
      }, PATIENCE);
      connection.answer = (status) => {
        clearTimeout(timer);
        if (status === 200) this.#latencies.push(performance.now() - began);
        else counts.refused += 1;
        if (!connection.socket.destroyed) this.#free.push(connection);
        resolve();
      };
      connection.socket.write(this.request);
    });
  }

  #connect() {
    if (this.#open >= MOST_CONNECTIONS) return undefined;
    this.#open += 1;
    const socket = connect(this.port, '127.0.0.1');
    const connection = { socket, answer: undefined };
    let missing = 0;
    let status = 0;
    socket.on('data', (chunk) => {
      if (missing === 0) {
        const text = chunk.toString('latin1', 0, 2_000);
        status = Number(text.slice(9, 12));
        missing = text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]);
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

if (process.argv[2] === 'load') {
  let load;
  process.on('message', (order) => {
    load ??= new Load(order);
    void load.run(order).then((result) => process.send(result));
  });
}
