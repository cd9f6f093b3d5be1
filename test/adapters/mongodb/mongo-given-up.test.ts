import { expect } from 'chai';
import { ObjectId } from 'mongodb';
import { mongoChanges } from '../../../src/adapters/mongodb/mongo-pet-changes.js';
import type { MongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import { petInserts } from '../../../src/adapters/mongodb/pet-inserts.js';
import type { AttemptOptions } from '../../../src/adapters/mongodb/retry.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { rejection, rex } from './mongo-store-tests.js';

type Attempt = (options: AttemptOptions) => Promise<unknown>;

describe('A change in MongoDB whose attempt was given up', () => {
  it('does not happen again, though the server says late that the attempt changed nothing', async () => {
    let stored = { _id: 1n, ...rex, operation: new ObjectId(), change: undefined as ObjectId | undefined };
    const late = Promise.withResolvers<{ readonly matchedCount: number }>();
    const replies: Array<() => Promise<{ readonly matchedCount: number }>> = [
      () => late.promise,
      async () => {
        stored = { ...stored, status: 'sold', change: new ObjectId() }; // and then another changes it once more
        throw new Error('the reply is lost');
      },
    ];
    let updates = 0;
    const asked = Promise.withResolvers<void>();
    const collection = {
      findOne: async () => stored,
      updateOne() {
        asked.resolve();
        updates += 1;
        return replies[updates - 1]?.() ?? Promise.resolve({ matchedCount: 1 });
      },
    };
    /** Gives the first attempt up while it waits for its reply, which comes after the second attempt. */
    const run = async (_doing: string, _call: object, attempt: Attempt): Promise<unknown> => {
      const giveUp = new AbortController();
      const first = attempt({ signal: giveUp.signal, maxTimeMS: 1000 });
      await asked.promise;
      giveUp.abort(new Error('given up'));
      const { signal } = new AbortController();
      await attempt({ signal, maxTimeMS: 1000 }).catch(() => {});
      late.resolve({ matchedCount: 0 });
      await first.catch(() => {});
      return attempt({ signal, maxTimeMS: 1000 });
    };
    const changes = mongoChanges({ collection: () => collection, run } as unknown as MongoConnection);
    expect(await rejection(changes.changeStatus(1n, 'pending', ['available', 'sold']))).to.be.instanceOf(
      UnavailableError,
    );
    expect(updates).to.equal(2);
  });
});

type Block = { readonly value: { readonly last: bigint } };

/** Inserts into a new database, which gives out these blocks of ids. */
function insertsWith(findOneAndUpdate: () => Promise<Block>) {
  const collection = { findOne: async () => null, findOneAndUpdate };
  return petInserts({ collection: () => collection, prepare: () => {} } as unknown as MongoConnection);
}

describe('An id of an attempt that was given up', () => {
  it('is not used, because a later attempt may have another', async () => {
    const block = Promise.withResolvers<Block>();
    const giveUp = new AbortController();
    const id = insertsWith(() => block.promise).nextId({ signal: giveUp.signal, maxTimeMS: 1000 });
    giveUp.abort(new Error('given up'));
    block.resolve({ value: { last: 1000n } });
    expect(await rejection(id)).to.have.property('message', 'given up');
  });

  it('does not end others: one that waited for its block takes the next', async () => {
    let blocks = 0;
    const inserts = insertsWith(async () => {
      blocks += 1;
      if (blocks === 1) throw new Error('given up');
      return { value: { last: 1000n } };
    });
    const options = { signal: new AbortController().signal, maxTimeMS: 1000 };
    const [first, second] = [inserts.nextId(options), inserts.nextId(options)];
    expect(await rejection(first)).to.have.property('message', 'given up');
    expect(await second).to.equal(1n);
  });

  it('is followed by one of a block that is taken anew, if its own could not be taken', async () => {
    const away = new Error('away');
    let [tries, looks] = [0, 0];
    const inserts = insertsWith(async () => {
      if ((tries += 1) === 1) throw away;
      return { value: { last: 1000n } };
    });
    // To wait for a block that never comes would take no turn of the event loop, and so never end.
    const throwIfAborted = (): void => void expect((looks += 1)).to.be.below(9);
    const options = { signal: { throwIfAborted } as AbortSignal, maxTimeMS: 1000 };
    expect(await rejection(inserts.nextId(options))).to.equal(away);
    expect(await inserts.nextId(options)).to.equal(1n);
  });
});
