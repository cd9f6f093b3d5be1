import { MongoServerError, type Db } from 'mongodb';
import type { notices } from '../../application/ports/store.js';
import type { AttemptOptions } from './retry.js';

/** How long the server keeps lapsed claims and what is left of animals, in seconds, for calls whose clock is behind. */
const SWEEP_DELAY = 60 * 60;

/**
 * The indexes beside those of `_id`, by collection. Queries use `_id` or its order, so all collections can be sharded by
 * the hashed `_id`. That forbids other unique indexes, and none is needed: a claim is the `_id` of its document, and
 * the hash of an API key covers the key's id.
 */
const INDEXES = {
  pets: [
    { key: { status: 1, _id: 1 }, name: 'status_1__id_1' },
    {
      key: { removedUntil: 1 },
      name: 'removedUntil_1',
      expireAfterSeconds: SWEEP_DELAY,
      sparse: true,
    },
  ],
  claims: [{ key: { keepUntil: 1 }, name: 'keepUntil_1', expireAfterSeconds: SWEEP_DELAY }],
} as const;

/**
 * Creates the missing indexes, with the collections that they are on: on a large collection that takes long. Other
 * processes may do the same. An index of the same name stays as somebody made it.
 */
export async function prepareDatabase(
  database: Db,
  notice: ReturnType<typeof notices>,
  options: AttemptOptions,
): Promise<void> {
  for (const [name, indexes] of Object.entries(INDEXES)) {
    const present = await database.collection(name).indexes(options).catch(noneWithoutCollection);
    for (const index of indexes) {
      if (present.some((other) => other.name === index.name)) continue;
      await database.command({ createIndexes: name, indexes: [index] }, options);
      notice(`made the index ${index.name} on ${name}`, 'info');
    }
  }
}

function noneWithoutCollection(error: unknown): [] {
  if (error instanceof MongoServerError && error.codeName === 'NamespaceNotFound') return [];
  throw error;
}
