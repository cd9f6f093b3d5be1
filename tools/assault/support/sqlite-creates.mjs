// What the attacks on SQLite share: a service, creates under idempotency keys, and a ledger of those acknowledged.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../../build/src/adapters/sqlite/index.js';
import { petPages } from '../../../build/src/application/pet-pages.js';
import { stringifyJson } from '../../../build/src/index.js';
import { main, startService } from '../../service.mjs';

const KEY = 'attacking-key-0123456789';

/** Starts the built service on a file. `wrapper` is a command that runs it, such as strace -D: it stays our child. */
export const serve = (file, wrapper = []) =>
  startService(
    { STORE_URL: `sqlite:${file}`, API_KEYS: KEY },
    { command: [...wrapper, process.execPath, main, 'serve'] },
  );

/** Creates an animal. Its name is the idempotency key too. */
async function create(service, name) {
  const response = await fetch(new URL('/v1/pets', service.url), {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': name.slice(0, 100),
    },
    body: JSON.stringify({ name, categoryId: 7 }),
    signal: AbortSignal.timeout(20_000),
  });
  const isReplayed = response.headers.get('idempotency-replayed') === 'true';
  return { status: response.status, body: await response.text(), isReplayed };
}

/** Retries a create until it is acknowledged. Resolves to the body. */
async function createUntilAcknowledged(name, serviceNow) {
  for (;;) {
    const { status, body } = await create(serviceNow(), name).catch(() => ({ status: 503 }));
    if (status === 201) return body;
    if (status !== 503 && status !== 409) throw new Error(`refused with ${status}: ${body}`);
    await delay(100);
  }
}

/**
 * Creates animals by this many writers at once. Each takes its next name from `nextName`, until that returns undefined.
 * `serviceNow` returns the service as it is now: it may be started again at any time.
 */
export function write(writers, nextName, serviceNow, acknowledge = () => {}) {
  const writer = async () => {
    for (let name = nextName(); name !== undefined; name = nextName())
      acknowledge(name, await createUntilAcknowledged(name, serviceNow));
  };
  return Promise.all(Array.from({ length: writers }, writer));
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
   * Compares the ledger with all that the store in a file holds. `lost` counts animals that are missing or differ,
   * `twice` those beyond the first of a name, plus one if not every animal has exactly one claim, and `others` those that
   * nobody was told of.
   */
  async compare(file) {
    const store = await openSqliteStore(file);
    try {
      const pets = (await Array.fromAsync(petPages(store.pets))).flat();
      const isClaimedOnce = String(claimedIds(file)) === String(pets.map(({ id }) => id));
      const stored = new Map(pets.map((pet) => [pet.name, stringifyJson(pet)]));
      return {
        lost: [...this.#bodies].filter(([name, body]) => stored.get(name) !== body).length,
        twice: pets.length - stored.size + Number(!isClaimedOnce),
        others: [...stored.keys()].filter((name) => !this.#bodies.has(name)).length,
      };
    } finally {
      await store.close();
    }
  }

  /** Repeats all creates. Resolves to how many get another response than the first. */
  async replay(service) {
    const left = [...this.#bodies];
    let differing = 0;
    const client = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { status, body, isReplayed } = await create(service, next[0]);
        if (status !== 201 || !isReplayed || body !== next[1]) differing += 1;
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    return differing;
  }
}

/** The ids of the animals that claims name, in ascending order. No port lists claims. */
function claimedIds(file) {
  const database = new DatabaseSync(file, { readOnly: true });
  const select = database.prepare('SELECT pet_id FROM claims ORDER BY pet_id');
  select.setReadBigInts(true);
  const claims = select.all();
  database.close();
  return claims.map(({ pet_id: id }) => id);
}
