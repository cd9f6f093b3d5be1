import { CLOCK_TOLERANCE } from '../../application/ports/pet-repository.js';
import { READ_OPTIONS } from './mongo-client.js';
import type { MongoConnection } from './mongo-connection.js';
import { LEFTOVER, petCollection } from './pet-document.js';

/** How often to sweep, in milliseconds: once a day. */
const INTERVAL = 24 * 60 * 60 * 1000;

/** Documents per batch: few enough for the timeout of a call. */
const BATCH_SIZE = 1000;

/**
 * Unsets expired claims and deletes what is left of removed animals: at once, then every day, until the returned timer
 * is cleared.
 */
export function startSweeping({ database, write }: MongoConnection): NodeJS.Timeout {
  const pets = petCollection(database);

  /** Resolves to whether there may be more. */
  async function sweepBatch() {
    const expired = { 'claim.keepUntil': { $lte: Date.now() - CLOCK_TOLERANCE } };
    const cursor = pets.find({ $or: [expired, LEFTOVER] }, READ_OPTIONS).limit(BATCH_SIZE);
    const ids = (await cursor.toArray()).map(({ _id }) => _id);
    const among = { _id: { $in: ids } };
    await pets.updateMany({ ...among, ...expired }, { $unset: { claim: 1 } });
    await pets.deleteMany({ ...among, ...LEFTOVER });
    return ids.length === BATCH_SIZE;
  }

  async function sweep() {
    try {
      while (await write('sweeping', undefined, sweepBatch));
    } catch {
      // The database is unreachable, or this user may not write: the next sweep tries again.
    }
  }

  void sweep();
  return setInterval(() => void sweep(), INTERVAL).unref();
}
