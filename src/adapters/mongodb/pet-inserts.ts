import type { Collection } from 'mongodb';
import { INT64_MAX, toInt64 } from '../../domain/int64.js';
import type { MongoConnection } from './mongo-connection.js';
import { unreadable } from './mongo-errors.js';
import type { PetDocument } from './pet-document.js';
import { insertOrFind, type AttemptOptions } from './retry.js';

/** How far ids were assigned. */
interface Counter {
  readonly _id: 'pets';
  /** The greatest id in any process's block. */
  readonly last: bigint;
}

const COUNTER = { _id: 'pets' } as const;

/** How many ids a process takes at a time. Those that are left when it ends are never used. */
const BLOCK_SIZE = 1000n;

/**
 * Inserts animals under ids of a block that no other process has. An insert is safe to repeat: its operation id
 * recognises it.
 */
export class PetInserts {
  readonly #connection: MongoConnection;
  readonly #pets: Collection<PetDocument>;
  readonly #counters: Collection<Counter>;
  /** What is left of the block: from the next id to the last one. */
  #next = 1n;
  #last = 0n;
  /** Set while a block is being taken. */
  #taking: Promise<void> | undefined;

  constructor(connection: MongoConnection) {
    this.#connection = connection;
    this.#pets = connection.collection('pets');
    this.#counters = connection.collection('counters');
  }

  /** Returns the next id of the block: no other process has it. */
  async nextId(options: AttemptOptions): Promise<bigint> {
    while (this.#next > this.#last) {
      await this.#refill(options);
      // An attempt that was given up must not change the id that a later one uses.
      options.signal.throwIfAborted();
    }
    const id = this.#next;
    this.#next += 1n;
    return id;
  }

  /** Resolves to `true` when the majority has the animal, to `false` when another one has its id. */
  async insert(pet: PetDocument, options: AttemptOptions): Promise<boolean> {
    const { operation } = await insertOrFind(this.#pets, pet, options);
    if (pet.operation.equals(operation)) return true;
    // The counter was lost or restored: other ids of the block may be taken, too.
    this.#discardBlock();
    return false;
  }

  /** The greatest id that was assigned or reserved, or is in use. */
  async lastId(options: AttemptOptions): Promise<bigint> {
    const used = await this.#greatestUsed(options);
    const assigned = lastOf(await this.#counters.findOne(COUNTER, options));
    return assigned > used ? assigned : used;
  }

  /** No id up to `last` is assigned from now on, except from blocks of other processes. */
  async reserve(last: bigint, options: AttemptOptions): Promise<void> {
    await this.#counters.updateOne(COUNTER, { $max: { last } }, { ...options, upsert: true });
    this.#discardBlock();
  }

  #discardBlock(): void {
    this.#next = this.#last + 1n;
  }

  /** One call takes a block for all that wait. If it fails, the next one tries. */
  async #refill(options: AttemptOptions): Promise<void> {
    if (this.#taking) return this.#taking.catch(() => {});
    this.#taking = this.#takeBlock(options);
    try {
      await this.#taking;
    } finally {
      this.#taking = undefined;
    }
  }

  /**
   * Takes the next block: above the counter, and above the ids in use in case the counter was lost or restored to an
   * older state. If the reply is lost, the block is never used.
   */
  async #takeBlock(options: AttemptOptions): Promise<void> {
    // Read before the counter: what others insert meanwhile comes from blocks that the counter knows.
    const used = await this.#greatestUsed(options);
    const greatest = { $max: ['$last', used, this.#last] };
    const { value, lastErrorObject } = await this.#counters.findOneAndUpdate(
      COUNTER,
      [{ $set: { last: { $toLong: { $add: [greatest, BLOCK_SIZE] } } } }],
      {
        ...options,
        upsert: true,
        returnDocument: 'after',
        includeResultMetadata: true,
      },
    );
    // A new database, or one that was dropped, with its indexes.
    if (!lastErrorObject?.['updatedExisting']) this.#connection.prepare();
    this.#last = lastOf(value);
    this.#next = this.#last - BLOCK_SIZE + 1n;
  }

  /**
   * The greatest id in use, rounded up if another program stored a fraction; 0 if there is none. Animals that the
   * majority does not have yet count, too.
   * @throws {UnavailableError} no greater id is left.
   */
  async #greatestUsed(options: AttemptOptions): Promise<bigint> {
    const isId = { $gt: 0n, $lte: INT64_MAX };
    const greatest = await this.#pets.findOne(
      { _id: isId },
      {
        ...options,
        readConcern: 'local',
        projection: { _id: 1 },
        sort: { _id: -1 },
      },
    );
    const id = greatest?._id ?? 0n;
    const used = toInt64(id) ?? BigInt(Math.ceil(Number(id)));
    if (used > INT64_MAX - BLOCK_SIZE) throw unreadable('pets', id, 'no greater id is left');
    return used;
  }
}

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
