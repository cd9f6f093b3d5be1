import { expect } from 'chai';
import { MongoServerError, ObjectId, type Collection } from 'mongodb';
import { insertOnce } from '../../../src/adapters/mongodb/insert-once.js';
import { retryWhileTransient, within } from '../../../src/adapters/mongodb/retry.js';
import { rejection } from './mongo-store-tests.js';

const patient = { timeout: 2000 };

describe('A call to MongoDB', () => {
  // As Node.js makes them; the driver passes them on while it waits for a socket.
  for (const [what, code] of [
    ['a write after the server ended the connection', 'EPIPE'],
    ['a greeting by TLS to a server without it', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'],
  ] as const) {
    it(`is retried after ${what}, and becomes unavailable when that never ends`, async () => {
      const error = Object.assign(new Error(what), { code });
      let tries = 0;
      const done = await retryWhileTransient('trying', patient, async () => {
        tries += 1;
        if (tries < 3) throw error;
        return 'done';
      });
      expect({ done, tries }).to.deep.equal({ done: 'done', tries: 3 });
      const never = retryWhileTransient('trying', { timeout: 100 }, () => Promise.reject(error));
      expect(await rejection(never)).to.include({ code: 'service_unavailable', cause: error });
    });
  }

  it('is retried when no reply comes, long before it is given up: a connection may be dead', async () => {
    let tries = 0;
    const done = retryWhileTransient('trying', { timeout: 500 }, async () => {
      tries += 1;
      return tries === 1 ? new Promise<never>(() => {}) : 'done';
    });
    expect({ done: await done, tries }).to.deep.equal({ done: 'done', tries: 2 });
  });

  it("passes on this program's own errors at once and unchanged", async () => {
    for (const error of [
      new TypeError('a fault'),
      Object.assign(new Error('no'), { code: 'ERR_ASSERTION' }),
    ]) {
      const tried = [error, new Error('tried twice')];
      const given = retryWhileTransient('trying', patient, () => Promise.reject(tried.shift()));
      expect(await rejection(given)).to.equal(error);
    }
  });

  it('does not begin an attempt after its signal was aborted', async () => {
    let begun = false;
    const reason = new Error('closed');
    const attempt = async (): Promise<void> => void (begun = true);
    expect(await rejection(within(1000, AbortSignal.abort(reason), attempt))).to.equal(reason);
    expect(begun).to.equal(false);
  });
});

describe('An insert whose document is a duplicate', () => {
  const operation = new ObjectId();
  const document = { _id: 1n, operation };
  const duplicate = new MongoServerError({ message: 'E11000 duplicate key', code: 11_000 });
  const attempt = { signal: new AbortController().signal, maxTimeMS: 1000 };

  for (const [what, found, outcome] of [
    ['is its own: the reply to an earlier insert was lost', { operation }, 'stored'],
    ['is of another operation', { operation: new ObjectId() }, 'taken'],
    ['is one that the majority does not have yet: it may be rolled back', null, 'LostRaceError'],
  ] as const) {
    it(`is ${outcome === 'LostRaceError' ? 'undecided' : outcome} if that ${what}`, async () => {
      const collection = {
        collectionName: 'pets',
        insertOne: () => Promise.reject(duplicate),
        findOne: async () => found,
      } as unknown as Collection<typeof document>;
      const inserted = insertOnce(collection, document, attempt).then(
        (isStored) => (isStored ? 'stored' : 'taken'),
        (error: Error) => error.name,
      );
      expect(await inserted).to.equal(outcome);
    });
  }
});
