import type { Collection } from 'mongodb';
import { toInt64 } from '../../domain/int64.js';
import { UndecidedError, isDuplicateKey } from './mongo-error.js';
import { abortable, SERVER_LIMIT } from './abortable.js';
import { greatestId } from './greatest-id.js';
import type { MongoConnection } from './mongo-connection.js';
import type { PetDocument } from './pet-document.js';
import { ATTEMPT_TIMEOUT, within } from './retry.js';

export interface Counter {
  readonly _id: string;
  /** The greatest id that was handed out to any process. */
  readonly last: bigint;
}

/** How many ids a process takes at a time. What it does not use when it ends is never used. */
const BLOCK = 1000n;

/** How often to try to get ahead of the ids that are in use. One is enough but for another's restore meanwhile. */
const TRIES = 3;

/** Hands out ids, ascending, from blocks that no other process has. */
export class PetIds {
  readonly #counters: Collection<Counter>;
  readonly #pets: Collection<PetDocument>;
  #first = 1n;
  #next = 1n;
  #last = 0n;
  #fetching: Promise<void> | undefined;

  constructor(connection: MongoConnection) {
    this.#counters = connection.collection('counters');
    this.#pets = connection.collection('pets');
  }

  async next(): Promise<bigint> {
    while (this.#next > this.#last) {
      // One for all who wait, so that it ends by none of their signals.
      this.#fetching ??= within(ATTEMPT_TIMEOUT, undefined, (signal) => this.#fetch(signal)).finally(() => {
        this.#fetching = undefined;
      });
      await this.#fetching;
    }
    const id = this.#next;
    this.#next += 1n;
    return id;
  }

  /** Another's animal has this id: the counter is behind, and the rest of the block no good. */
  refuse(id: bigint): void {
    if (id >= this.#first && id <= this.#last) this.#next = this.#last + 1n;
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      // Asked before the counter, so that what others insert meanwhile is from blocks that the counter knows.
      // Those that the majority does not have yet count too.
      const options = { readConcern: { level: 'local' }, ...SERVER_LIMIT } as const;
      const used = await greatestId(this.#pets, this.#last, abortable(options, signal));
      const last = await this.#advance(signal);
      const first = last - BLOCK + 1n;
      if (first > used) {
        [this.#first, this.#next, this.#last] = [first, first, last];
        return;
      }
      // The collection was restored or filled from elsewhere, or the counter lost.
      await this.#counters.updateOne(
        { _id: 'pets' },
        { $max: { last: used } },
        abortable({ upsert: true, ...SERVER_LIMIT }, signal),
      );
    }
    throw new UndecidedError('the counter of ids does not get ahead of the ids in use');
  }

  /** Takes the next block; resolves to its last id. If the answer is lost, so is the block, and nothing else. */
  async #advance(signal: AbortSignal): Promise<bigint> {
    try {
      const counter = await this.#counters.findOneAndUpdate(
        { _id: 'pets' },
        { $inc: { last: BLOCK } },
        abortable({ upsert: true, returnDocument: 'after', ...SERVER_LIMIT }, signal),
      );
      const last = toInt64(counter?.last);
      if (last === undefined) throw new UndecidedError('the counter of ids is not an integer');
      return last;
    } catch (error) {
      if (isDuplicateKey(error))
        throw new UndecidedError('two made the counter of ids at once', { cause: error });
      throw error;
    }
  }
}
