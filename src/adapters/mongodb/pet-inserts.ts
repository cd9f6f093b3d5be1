import type { Collection } from 'mongodb';
import { INT64_MAX, toInt64 } from '../../domain/int64.js';
import type { MongoConnection } from './mongo-connection.js';
import type { PetDocument } from './pet-document.js';
import { insertOnce } from './insert-once.js';
import { unreadable } from './mongo-errors.js';
import type { AttemptOptions } from './retry.js';

/** How far ids were assigned. */
interface Counter {
  readonly _id: 'pets';
  /** The greatest id in any process's block. */
  readonly last: bigint;
}

/** How many ids a process takes at a time. Those that are left when it ends are never used. */
const BLOCK = 1000n;

/** Assigns ids, and inserts animals so that an insert is safe to repeat: an operation id recognises it. */
export class PetInserts {
  readonly #connection: MongoConnection;
  readonly #pets: Collection<PetDocument>;
  readonly #counters: Collection<Counter>;
  #block = { first: 1n, next: 1n, last: 0n };
  #taking: Promise<void> | undefined;

  constructor(connection: MongoConnection) {
    this.#connection = connection;
    this.#pets = connection.collection('pets');
    this.#counters = connection.collection('counters');
  }

  /** Returns the next id of this process's block: no other process has it. */
  async nextId(options: AttemptOptions): Promise<bigint> {
    while (this.#block.next > this.#block.last) {
      // One call takes a block for all that wait. If it fails, the next one tries.
      if (this.#taking) await this.#taking.catch(() => {});
      else await (this.#taking = this.#takeBlock(options).finally(() => (this.#taking = undefined)));
      // An attempt that was given up must not change the id that a later one uses.
      options.signal.throwIfAborted();
    }
    const id = this.#block.next;
    this.#block.next += 1n;
    return id;
  }

  /**
   * Resolves to `true` when the majority has the animal, to `false` when the animal of another operation has its id.
   */
  async insert(pet: PetDocument, options: AttemptOptions): Promise<boolean> {
    const isStored = await insertOnce(this.#pets, pet, options);
    const { first, last } = this.#block;
    // The counter was lost or restored: other ids of this block may be taken, too.
    if (!isStored && pet._id >= first && pet._id <= last) this.#block.next = last + 1n;
    return isStored;
  }

  /** The greatest id that was assigned or reserved, or is in use. */
  async lastId(options: AttemptOptions): Promise<bigint> {
    const used = await this.#greatestId(options);
    const last = lastOf(await this.#counters.findOne({ _id: 'pets' }, options));
    return last > used ? last : used;
  }

  /** No id up to `last` is assigned from now on, except from blocks of other processes. */
  async reserve(last: bigint, options: AttemptOptions): Promise<void> {
    await this.#counters.updateOne({ _id: 'pets' }, { $max: { last } }, { ...options, upsert: true });
    this.#block.next = this.#block.last + 1n;
  }

  /**
   * Takes the next block: above the counter, and above the ids in use in case the counter was lost or restored to an
   * older state. If the reply is lost, the block is never used.
   */
  async #takeBlock(options: AttemptOptions): Promise<void> {
    // Read before the counter: what others insert meanwhile comes from blocks that the counter knows. Animals that
    // the majority does not have yet count, too.
    const used = await this.#greatestId({ ...options, readConcern: 'local' });
    const greatest = { $max: ['$last', used, this.#block.last] };
    const { value, lastErrorObject } = await this.#counters.findOneAndUpdate(
      { _id: 'pets' },
      [{ $set: { last: { $toLong: { $add: [greatest, BLOCK] } } } }],
      { ...options, upsert: true, returnDocument: 'after', includeResultMetadata: true },
    );
    // A new database, or one that was dropped, with its indexes.
    if (!lastErrorObject?.['updatedExisting']) this.#connection.prepare();
    const last = lastOf(value);
    const first = last - BLOCK + 1n;
    this.#block = { first, next: first, last };
  }

  /**
   * The greatest id in use, rounded up if another program stored a fraction; 0 if there is none.
   * @throws {UnavailableError} no greater id is left.
   */
  async #greatestId(options: AttemptOptions & { readonly readConcern?: 'local' }): Promise<bigint> {
    const [top] = await this.#pets
      .find(
        { _id: { $gt: 0n, $lte: INT64_MAX } },
        { ...options, projection: { _id: 1 }, sort: { _id: -1 }, limit: 1 },
      )
      .toArray();
    const greatest = toInt64(top?._id) ?? BigInt(Math.ceil(Number(top?._id ?? 0)));
    if (greatest > INT64_MAX - BLOCK) throw unreadable('pets', top?._id, 'no greater id is left');
    return greatest;
  }
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
