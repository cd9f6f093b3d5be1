import { expect } from 'chai';
import { MongoNetworkError, ObjectId } from 'mongodb';
import { mongoChanges } from '../../../src/adapters/mongodb/mongo-pet-changes.js';
import type { MongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import { petInserts, type PetInserts } from '../../../src/adapters/mongodb/pet-inserts.js';
import { retryWhileTransient } from '../../../src/adapters/mongodb/retry.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { rejection, rex } from './mongo-store-tests.js';

/** A store on one document, changed by the store and by others. */
class FakeDocument {
  #stored: object = {
    _id: 1n,
    ...rex,
    operation: new ObjectId(),
  };
  updates = 0;

  changeByAnother(fields?: object): void {
    this.#stored = {
      ...this.#stored,
      ...fields,
      change: new ObjectId(),
    };
  }

  /** Changes it by a store whose first updates get these replies. Later ones change the animal. */
  change(replies: readonly Reply[], run: MongoConnection['run']): Promise<unknown> {
    const collection = {
      findOne: async () => this.#stored,
      updateOne: () => {
        const reply = replies[this.updates];
        this.updates += 1;
        return reply?.(this) ?? Promise.resolve({ matchedCount: 1 });
      },
    };
    const connection = { collection: () => collection, write: run };
    const changes = mongoChanges(connection as unknown as MongoConnection);
    return changes.change(1n, { status: 'pending' }, ['available', 'sold']);
  }
}

/** What the server does with an update, and says of it. */
type Reply = (document: FakeDocument) => Promise<{ readonly matchedCount: number }>;

/** The reply is lost after another call has changed the document. */
const lostAfterChange =
  (fields?: object): Reply =>
  async (document) => {
    document.changeByAnother(fields);
    throw new MongoNetworkError('the reply is lost');
  };

const lost: Reply = () => Promise.reject(new MongoNetworkError('the reply is lost'));

const slower: Reply = async (document) => {
  document.changeByAnother();
  return { matchedCount: 0 };
};

const CASES: Readonly<Record<string, readonly Reply[]>> = {
  'has taken it back': [lostAfterChange()],
  'has removed the animal': [lostAfterChange({ removedUntil: new Date() })],
  'was faster than its retry': [lost, slower],
};

describe('A change in MongoDB whose reply is late or lost', () => {
  for (const [what, replies] of Object.entries(CASES)) {
    it(`does not happen again after its reply was lost, when another call ${what}`, async () => {
      const document = new FakeDocument();

      const changing = document.change(replies, (doing, _call, attempt) =>
        retryWhileTransient(doing, { timeout: 5000 }, attempt),
      );

      expect(await rejection(changing)).to.be.instanceOf(UnavailableError);
      expect(document.updates, 'updates').to.equal(replies.length);
    });
  }

  it('does not happen again, though the server says late that the attempt changed nothing', async () => {
    const asked = Promise.withResolvers<void>();
    const late = Promise.withResolvers<{ matchedCount: number }>();
    const document = new FakeDocument();
    const replies: readonly Reply[] = [
      () => {
        asked.resolve();
        return late.promise;
      },
      lostAfterChange({ status: 'sold' }),
    ];

    // The first attempt is given up while it waits for its reply, which comes after the second attempt.
    const changing = document.change(replies, async (_doing, _call, attempt) => {
      const maxTimeMS = 1000;
      const giveUp = new AbortController();
      const first = attempt({ signal: giveUp.signal, maxTimeMS });
      await asked.promise;
      giveUp.abort(new Error('given up'));
      const { signal } = new AbortController();
      await attempt({ signal, maxTimeMS }).catch(() => {});
      late.resolve({ matchedCount: 0 });
      await first.catch(() => {});
      return attempt({ signal, maxTimeMS });
    });

    expect(await rejection(changing)).to.be.instanceOf(UnavailableError);
    expect(document.updates, 'updates').to.equal(2);
  });
});

type Block = { readonly value: { readonly last: bigint } };

/** Inserts into a new database, which gives out these blocks of ids. */
function insertsWith(findOneAndUpdate: () => Promise<Block>): PetInserts {
  const collection = { findOne: async () => null, findOneAndUpdate };
  const connection = { collection: () => collection, prepare: () => {} };
  return petInserts(connection as unknown as MongoConnection);
}

describe('An id of an attempt that was given up', () => {
  it('is not used, because a later attempt may have another', async () => {
    const block = Promise.withResolvers<Block>();
    const giveUp = new AbortController();
    const inserts = insertsWith(() => block.promise);

    const id = inserts.nextId({ signal: giveUp.signal, maxTimeMS: 1000 });
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
    let looks = 0;
    const throwIfAborted = (): void => {
      looks += 1;
      // To wait for a block that never comes would take no turn of the event loop, and so never end.
      expect(looks, 'times that an id waited').to.be.below(9);
    };
    const options = { signal: { throwIfAborted } as AbortSignal, maxTimeMS: 1000 };

    const first = inserts.nextId(options);
    const second = inserts.nextId(options);

    expect(await rejection(first)).to.have.property('message', 'given up');
    expect(await second).to.equal(1n);
  });
});
