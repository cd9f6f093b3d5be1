import { expect } from 'chai';
import { MongoNetworkError, ObjectId } from 'mongodb';
import { mongoChanges } from '../../../src/adapters/mongodb/mongo-pet-changes.js';
import type { MongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import { PetInserts } from '../../../src/adapters/mongodb/pet-inserts.js';
import { retryWhileTransient } from '../../../src/adapters/mongodb/retry.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { rejection, rex } from './mongo-store-tests.js';

const lost = (): never => {
  throw new MongoNetworkError('the reply is lost');
};

describe('A change in MongoDB whose reply is late or lost', () => {
  let stored: object;
  const changeByAnother = (fields?: object): void => {
    stored = { ...stored, ...fields, change: new ObjectId() };
  };

  /** What the server does with the first updates, and says of them. It makes every later one. */
  type Replies = Array<() => Promise<{ readonly matchedCount: number }>>;

  async function expectUndecided(run: MongoConnection['run'], replies: Replies): Promise<void> {
    stored = { _id: 1n, ...rex, operation: new ObjectId() };
    let updates = 0;
    const collection = {
      findOne: async () => stored,
      updateOne: () => replies[updates++]?.() ?? Promise.resolve({ matchedCount: 1 }),
    };
    const changes = mongoChanges({
      collection: () => collection,
      write: run,
    } as unknown as MongoConnection);
    const error = await rejection(changes.change(1n, { status: 'pending' }, ['available', 'sold']));
    expect(error).to.be.instanceOf(UnavailableError);
    expect(updates).to.equal(replies.length);
  }

  it('does not happen again, though the server says late that the attempt changed nothing', async () => {
    const [asked, late] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<{ matchedCount: number }>(),
    ];
    /** Gives the first attempt up while it waits for its reply, which comes after the second attempt. */
    const run: MongoConnection['run'] = async (_doing, _call, attempt) => {
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
    await expectUndecided(run, [
      () => (asked.resolve(), late.promise),
      async () => (changeByAnother({ status: 'sold' }), lost()), // after this one was made
    ]);
  });

  for (const [what, ...replies] of [
    ['has taken it back', async () => (changeByAnother(), lost())],
    ['has removed the animal', async () => (changeByAnother({ removedUntil: new Date() }), lost())],
    [
      'was faster than its retry',
      async () => lost(),
      async () => (changeByAnother(), { matchedCount: 0 }),
    ],
  ] as Array<[string, ...Replies]>)
    it(`does not happen again after its reply was lost, when another call ${what}`, () =>
      expectUndecided(
        (doing, _call, attempt) => retryWhileTransient(doing, { timeout: 5000 }, attempt),
        replies,
      ));
});

type Block = { readonly value: { readonly last: bigint } };

/** Inserts into a new database, which gives out these blocks of ids. */
function insertsWith(findOneAndUpdate: () => Promise<Block>) {
  const collection = { findOne: async () => null, findOneAndUpdate };
  return new PetInserts({
    collection: () => collection,
    prepare: () => {},
  } as unknown as MongoConnection);
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
    let [blocks, looks] = [0, 0];
    const inserts = insertsWith(async () => {
      blocks += 1;
      if (blocks === 1) throw new Error('given up');
      return { value: { last: 1000n } };
    });
    // To wait for a block that never comes would take no turn of the event loop, and so never end.
    const throwIfAborted = (): void => void expect((looks += 1)).to.be.below(9);
    const options = { signal: { throwIfAborted } as AbortSignal, maxTimeMS: 1000 };
    const [first, second] = [inserts.nextId(options), inserts.nextId(options)];
    expect(await rejection(first)).to.have.property('message', 'given up');
    expect(await second).to.equal(1n);
  });
});
