// What the attacks on stores share: a service, creates under idempotency keys, and a ledger of those acknowledged.
import { randomUUID } from 'node:crypto';
import { mkdtempDisposable } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoBinary } from 'mongodb-memory-server';
import { main, startService } from '../service.mjs';
import { stringifyJson } from '../../build/src/index.js';

const KEY = 'attacking-key-0123456789';

/** Runs `attack` in a folder of its own, which is removed at the end. */
export async function inFolder(attack) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'animal-store-assault-'));
  return await attack(folder.path);
}

/** The path of the mongod that the tests use; `undefined` if there is none. Downloads nothing. */
export async function mongodPath() {
  process.env.MONGOMS_RUNTIME_DOWNLOAD ??= 'false';
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK ??= 'false';
  return MongoBinary.getPath().catch(() => undefined);
}

/** Starts the built service on a store. `wrapper` is a command that runs it, such as strace -D: it stays our child. */
export const serve = (storeUrl, { wrapper = [], options = [], port = 0, settings } = {}) =>
  startService(
    { STORE_URL: storeUrl, API_KEYS: KEY, PORT: String(port), ...settings },
    { command: [...wrapper, process.execPath, ...options, main, 'serve'] },
  );

const keptAlive = new http.Agent({ keepAlive: true });

/** Resolves to the response with its body. Rejects if the connection breaks or the response takes too long. */
export function send(base, target, { method = 'GET', headers, body, agent = keptAlive } = {}) {
  const url = new URL(target, base);
  const { request } = url.protocol === 'https:' ? https : http;
  const all = { Host: 'animals.example', Authorization: `Bearer ${KEY}`, ...headers };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers: all, signal: AbortSignal.timeout(20_000) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const { statusCode: status, headers: received } = response;
      text(response).then((read) => resolve({ status, headers: received, body: read }), reject);
    });
    sent.end(body);
  });
}

/** Creates an animal. Its name is the idempotency key too. */
export const create = (base, name, agent) =>
  send(base, '/v1/pets', {
    method: 'POST',
    agent,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name.slice(0, 100) },
    body: JSON.stringify({ name, categoryId: 7 }),
  });

/** Retries a create until it is acknowledged, at `baseOf(attempt)`. Resolves to the body and the number of retries. */
export async function persist(name, baseOf, pause = 50) {
  for (let retries = 0; ; retries += 1) {
    const { status, body } = await create(baseOf(retries), name).catch(() => ({ status: 503 }));
    if (status === 201) return { body, retries };
    if (status !== 503 && status !== 409)
      throw new Error(`a create was refused with ${status}: ${body}`);
    await delay(pause);
  }
}

/** Clients that create animals until the end, at `baseOf(client, attempt)`, and retry each until it is acknowledged. */
export class Writers {
  ledger = new Ledger();
  retries = 0;
  #isOver = false;
  #writing;

  constructor(count, baseOf, pause, onAcknowledged = () => {}) {
    const write = async (_, client) => {
      while (!this.#isOver) {
        const name = randomUUID();
        const { body, retries } = await persist(name, (attempt) => baseOf(client, attempt), pause);
        onAcknowledged();
        this.ledger.acknowledge(name, body);
        this.retries += retries;
      }
    };
    this.#writing = Promise.all(Array.from({ length: count }, write));
  }

  /** Resolves when each has its last create acknowledged. */
  end() {
    this.#isOver = true;
    return this.#writing;
  }
}

/** The creates that were acknowledged. Each name is used once. */
export class Ledger {
  #bodies = new Map(); // by the names of the animals

  get size() {
    return this.#bodies.size;
  }

  acknowledge(name, body) {
    this.#bodies.set(name, body);
  }

  /**
   * Compares the ledger with all that a store holds. `lost` counts animals that are missing or differ, `twice` the
   * animals beyond the first of a name and those without exactly one claim, `others` those that nobody was told of.
   */
  async compare(opening) {
    const store = await opening;
    try {
      const pets = await store.pets.list({ limit: 1e6 });
      const claims = await store.transfer.readClaims({ limit: 1e6, now: 0 });
      const stored = new Map(pets.map((pet) => [pet.name, stringifyJson(pet)]));
      const claimed = new Set(claims.map(({ petId }) => petId));
      return {
        lost: [...this.#bodies].filter(([name, body]) => stored.get(name) !== body).length,
        twice:
          pets.length -
          stored.size +
          Math.abs(claims.length - pets.length) +
          (pets.length - claimed.size),
        others: [...stored.keys()].filter((name) => !this.#bodies.has(name)).length,
      };
    } finally {
      await store.close();
    }
  }

  /** Compares, and shows whether something is lost or there twice. Resolves to what the comparison found. */
  async judge(show, opening, where) {
    const found = await this.compare(opening);
    const prefix = where ? `${where}: ` : '';
    show(`${prefix}acknowledged animals lost`, found.lost, 'equals', 0);
    show(`${prefix}animals stored twice`, found.twice, 'equals', 0);
    return found;
  }

  /** Repeats all creates. Resolves to how many get another response than the first. */
  async replay(base) {
    const left = [...this.#bodies];
    let differing = 0;
    const client = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const [name, first] = next;
        const { status, headers, body } = await create(base, name);
        if (status !== 201 || headers['idempotency-replayed'] !== 'true' || body !== first)
          differing += 1;
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    return differing;
  }
}
