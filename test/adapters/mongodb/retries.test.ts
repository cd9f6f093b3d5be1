import { expect } from 'chai';
import { MongoNetworkError, MongoServerError, type Collection } from 'mongodb';
import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '../../../src/adapters/mongodb/retry.js';
import { retryableInsert } from '../../../src/adapters/mongodb/retryable-insert.js';
import { rejectionOf } from '../../contract/rejection.js';

const taken = new MongoServerError({ code: 11000, keyPattern: { _id: 1 } });

describe('A call of the MongoDB store', () => {
  it('that waited does nothing more once it was rejected', async () => {
    const connected = Promise.withResolvers<void>();
    let hasWritten = false;
    const call = retry(
      async (requireTime) => {
        await connected.promise;
        requireTime();
        hasWritten = true;
      },
      20,
      undefined,
    );

    expect(await rejectionOf(call)).to.have.property('name', 'TimeoutError');
    connected.resolve();
    await delay(1);
    expect(hasWritten).to.equal(false);
  });

  it('does not take its own document, which no majority has yet, for that of another', async () => {
    const errors = [new MongoNetworkError('the reply is lost'), taken];
    const collection = {
      async insertOne() {
        throw errors.shift() as Error;
      },
      findOne: async () => null,
    } as unknown as Collection<{ _id: number }>;
    const insert = retryableInsert(collection, () => true);

    await rejectionOf(insert({ _id: 1 }));
    expect(await rejectionOf(insert({ _id: 1 }))).to.equal(taken);
  });
});
