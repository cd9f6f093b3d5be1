import { INT64_MAX, toInt64 } from '../../domain/int64.js';
import { SCHEMA_VERSION } from './database-schema.js';
import type { MongoConnection } from './mongo-connection.js';
import { unreadable } from './mongo-errors.js';
import type { PetDocument } from './pet-document.js';
import { insertOrFind, type AttemptOptions } from './retry.js';

/** How far ids were assigned. */
interface Counter {
  readonly _id: 'pets';
  /** The greatest id in any process's block. */
  readonly last: bigint;
  readonly schema: number;
}

const COUNTER = { _id: 'pets' } as const;

/** How many ids a process takes at a time. Those that are left when it ends are never used. */
const BLOCK_SIZE = 1000n;

/**
 * Inserts animals under ids of a block that no other process has. An insert is safe to repeat: its operation id
 * recognises it.
 */
export function petInserts(connection: MongoConnection) {
  const pets = connection.collection<PetDocument>('pets');
  const counters = connection.collection<Counter>('counters');
  /** What is left of the block in hand: from the next id to the last one. */
  let block = { next: 1n, last: 0n };
  /** Set while a block is being taken. */
  let taking: Promise<void> | undefined;

  /**
   * The greatest id in use, rounded up if another program stored a fraction; 0 if there is none. Animals that the
   * majority does not have yet count, too.
   * @throws {UnavailableError} no greater id is left.
   */
  async function greatestUsed(options: AttemptOptions): Promise<bigint> {
    const isId = { _id: { $gt: 0n, $lte: INT64_MAX } };
    const greatest = await pets.findOne(isId, {
      ...options,
      readConcern: 'local',
      projection: { _id: 1 },
      sort: { _id: -1 },
    });
    const id = greatest?._id ?? 0n;
    const used = toInt64(id) ?? BigInt(Math.ceil(Number(id)));
    if (used > INT64_MAX - BLOCK_SIZE) throw unreadable('pets', id, 'no greater id is left');
    return used;
  }

  /**
   * Takes the next block: above the counter, and above the ids in use in case the counter was lost or restored to an
   * older state. If the reply is lost, the block is never used.
   */
  async function takeBlock(options: AttemptOptions): Promise<void> {
    // Read before the counter: what others insert meanwhile comes from blocks that the counter knows.
    const used = await greatestUsed(options);
    const greatest = { $max: ['$last', used, block.last] };
    const endOfBlock = { $toLong: { $add: [greatest, BLOCK_SIZE] } };
    const { value, lastErrorObject } = await counters.findOneAndUpdate(
      COUNTER,
      [{ $set: { last: endOfBlock, schema: SCHEMA_VERSION } }],
      {
        ...options,
        upsert: true,
        returnDocument: 'after',
        includeResultMetadata: true,
      },
    );
    // A new database, or one that was dropped, with its indexes.
    if (!lastErrorObject?.['updatedExisting']) connection.prepare();
    const last = lastOf(value);
    block = { next: last - BLOCK_SIZE + 1n, last };
  }

  /** One call takes a block for all that wait. If it fails, the next one tries. */
  async function refill(options: AttemptOptions): Promise<void> {
    if (taking) return taking.catch(() => {});
    taking = takeBlock(options);
    try {
      await taking;
    } finally {
      taking = undefined;
    }
  }

  function discardBlock(): void {
    block.next = block.last + 1n;
  }

  return {
    /** Returns the next id of the block: no other process has it. */
    async nextId(options: AttemptOptions): Promise<bigint> {
      while (block.next > block.last) {
        await refill(options);
        // An attempt that was given up must not change the id that a later one uses.
        options.signal.throwIfAborted();
      }
      const id = block.next;
      block.next += 1n;
      return id;
    },

    /** Resolves to `true` when the majority has the animal, to `false` when another one has its id. */
    async insert(pet: PetDocument, options: AttemptOptions): Promise<boolean> {
      const { operation } = await insertOrFind(pets, pet, options);
      if (pet.operation.equals(operation)) return true;
      // The counter was lost or restored: other ids of the block may be taken, too.
      discardBlock();
      return false;
    },

    /** The greatest id that was assigned or reserved, or is in use. */
    async lastId(options: AttemptOptions): Promise<bigint> {
      const used = await greatestUsed(options);
      const assigned = lastOf(await counters.findOne(COUNTER, options));
      return assigned > used ? assigned : used;
    },

    /** No id up to `last` is assigned from now on, except from blocks of other processes. */
    async reserve(last: bigint, options: AttemptOptions): Promise<void> {
      const atLeast = { $max: { last }, $set: { schema: SCHEMA_VERSION } };
      await counters.updateOne(COUNTER, atLeast, { ...options, upsert: true });
      discardBlock();
    },
  };
}

export type PetInserts = ReturnType<typeof petInserts>;

/**
 * The counter's value; 0 if there is none.
 * @throws {UnavailableError} it is not an int64.
 */
function lastOf(counter: Counter | null): bigint {
  if (counter === null) return 0n;
  const last = toInt64(counter.last);
  if (last === undefined) throw unreadable('counters', counter._id, 'last must be an int64');
  return last;
}
