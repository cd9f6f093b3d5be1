import type { Db } from 'mongodb';
import { READ_OPTIONS } from './mongo-client.js';

/** How many ids a process takes at a time. Ids left over when the process ends are never used. */
const BLOCK_SIZE = 1000n;

interface Counter {
  readonly _id: string;
  readonly last: bigint | number; // mongosh writes a number as a double
}

const COUNTER = { _id: 'pets' };

export type PetIds = ReturnType<typeof petIds>;

/** The ids of new animals, in blocks from a counter that all processes share. */
export function petIds(database: Db) {
  const counters = database.collection<Counter>('counters');
  let next = 1n;
  let end = 0n;
  let taking: Promise<void> | undefined;

  async function takeBlock() {
    const increase = { $inc: { last: BLOCK_SIZE } };
    const options = { upsert: true, returnDocument: 'after' } as const;
    const counter = await counters.findOneAndUpdate(COUNTER, increase, options);
    end = BigInt((counter as Counter).last); // an upsert always returns it
    next = end - BLOCK_SIZE + 1n;
  }

  return {
    /** An id that was never assigned. */
    async take() {
      while (next > end) {
        taking ??= takeBlock().finally(() => {
          taking = undefined;
        });
        await taking;
      }
      return next++;
    },

    /** The greatest id that may have been assigned; 0 if none was. */
    async last() {
      const counter = await counters.findOne(COUNTER, READ_OPTIONS);
      return BigInt(counter?.last ?? 0n);
    },

    /** Makes `take` assign only ids above `last`. */
    async skip(last: bigint) {
      await counters.updateOne(COUNTER, { $max: { last } }, { upsert: true });
      end = 0n; // drops the rest of the block
    },
  };
}
