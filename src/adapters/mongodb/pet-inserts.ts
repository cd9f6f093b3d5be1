import { INT64_MAX, toInt64 } from '../../domain/int64.js';
import type { MongoConnection } from './mongo-connection.js';
import type { PetDocument } from './pet-document.js';
import { unreadable } from './mongo-errors.js';
import { insertOrFind, type AttemptOptions } from './retry.js';

/** How far ids were assigned. */
interface Counter {
  readonly _id: 'pets';
  /** The greatest id in any process's block. */
  readonly last: bigint;
}

/** How many ids a process takes at a time. Those that are left when it ends are never used. */
const BLOCK = 1000n;

export type PetInserts = ReturnType<typeof petInserts>;

/** Assigns ids, and inserts animals so that an insert is safe to repeat: an operation id recognises it. */
export function petInserts(connection: MongoConnection) {
  const pets = connection.collection<PetDocument>('pets');
  const counters = connection.collection<Counter>('counters');
  /** The block of this process: the next id, and the last one. */
  let [next, last] = [1n, 0n];
  let taking: Promise<void> | undefined;

  /**
   * Takes the next block: above the counter, and above the ids in use in case the counter was lost or restored to an
   * older state. If the reply is lost, the block is never used.
   */
  async function takeBlock(options: AttemptOptions): Promise<void> {
    // Read before the counter: what others insert meanwhile comes from blocks that the counter knows. Animals that
    // the majority does not have yet count, too.
    const used = await greatestId({ ...options, readConcern: 'local' });
    const greatest = { $max: ['$last', used, last] };
    const { value, lastErrorObject } = await counters.findOneAndUpdate(
      { _id: 'pets' },
      [{ $set: { last: { $toLong: { $add: [greatest, BLOCK] } } } }],
      { ...options, upsert: true, returnDocument: 'after', includeResultMetadata: true },
    );
    // A new database, or one that was dropped, with its indexes.
    if (!lastErrorObject?.['updatedExisting']) connection.prepare();
    last = lastOf(value);
    next = last - BLOCK + 1n;
  }

  /**
   * The greatest id in use, rounded up if another program stored a fraction; 0 if there is none.
   * @throws {UnavailableError} no greater id is left.
   */
  async function greatestId(
    options: AttemptOptions & { readonly readConcern?: 'local' },
  ): Promise<bigint> {
    const top = await pets.findOne(
      { _id: { $gt: 0n, $lte: INT64_MAX } },
      { ...options, projection: { _id: 1 }, sort: { _id: -1 } },
    );
    const greatest = toInt64(top?._id) ?? BigInt(Math.ceil(Number(top?._id ?? 0)));
    if (greatest > INT64_MAX - BLOCK) throw unreadable('pets', top?._id, 'no greater id is left');
    return greatest;
  }

  return {
    /** Returns the next id of this process's block: no other process has it. */
    async nextId(options: AttemptOptions): Promise<bigint> {
      while (next > last) {
        // One call takes a block for all that wait. If it fails, the next one tries.
        if (taking) await taking.catch(() => {});
        else await (taking = takeBlock(options).finally(() => (taking = undefined)));
        // An attempt that was given up must not change the id that a later one uses.
        options.signal.throwIfAborted();
      }
      const id = next;
      next += 1n;
      return id;
    },

    /** Resolves to `true` when the majority has the animal, to `false` when another one has its id. */
    async insert(pet: PetDocument, options: AttemptOptions): Promise<boolean> {
      const { operation } = await insertOrFind(pets, pet, options);
      if (pet.operation.equals(operation)) return true;
      // The counter was lost or restored: other ids of this block may be taken, too.
      if (pet._id > last - BLOCK && pet._id <= last) next = last + 1n;
      return false;
    },

    /** The greatest id that was assigned or reserved, or is in use. */
    async lastId(options: AttemptOptions): Promise<bigint> {
      const used = await greatestId(options);
      const assigned = lastOf(await counters.findOne({ _id: 'pets' }, options));
      return assigned > used ? assigned : used;
    },

    /** No id up to `upTo` is assigned from now on, except from blocks of other processes. */
    async reserve(upTo: bigint, options: AttemptOptions): Promise<void> {
      await counters.updateOne(
        { _id: 'pets' },
        { $max: { last: upTo } },
        { ...options, upsert: true },
      );
      next = last + 1n;
    },
  };
}

/**
 * The counter's value; 0 if there is none.
 * @throws {UnavailableError} it is not an int64.
 */
function lastOf(counter: Counter | null): bigint {
  const last = counter === null ? 0n : toInt64(counter.last);
  if (last === undefined) throw unreadable('counters', counter?._id, 'last must be an int64');
  return last;
}
