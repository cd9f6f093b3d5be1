import { expect } from 'chai';
import {
  BSON,
  MongoAPIError,
  MongoInvalidArgumentError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoParseError,
  MongoServerError,
  MongoTransactionError,
  type Collection,
} from 'mongodb';
import { insertOrFind, retryWhileTransient, within } from '../../../src/adapters/mongodb/retry.js';
import { rejection } from './mongo-store-tests.js';

const patient = { timeout: 2000 };

/** A document whose text is a single byte that UTF-8 does not allow. */
const INVALID_TEXT = Buffer.from('0e000000026e0002000000ff0000', 'hex');

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

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
      const never = retryWhileTransient('trying', { timeout: 400 }, async () => {
        tries += 1;
        throw error;
      });
      expect(await rejection(never)).to.include({ code: 'service_unavailable', cause: error });
      expect(tries, 'tries with pauses').to.be.below(20);
    });
  }

  it('is retried in every state of a server that ends by itself', async () => {
    const codes = [6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 189, 262, 9001];
    codes.push(10_058, 10_107, 11_600, 11_602, 13_388, 13_435, 13_436);
    const outcomes = codes.map((code) => {
      const tried = [new MongoServerError({ message: `error ${code}`, code })];
      return retryWhileTransient('trying', patient, async () => {
        for (const error of tried.splice(0)) throw error;
        return code;
      });
    });
    expect(await Promise.all(outcomes)).to.deep.equal(codes);
  });

  it('is retried when no reply comes, long before it is given up: a connection may be dead', async () => {
    let tries = 0;
    const done = retryWhileTransient('trying', { timeout: 500 }, async () => {
      tries += 1;
      return tries === 1 ? new Promise<never>(() => {}) : 'done';
    });
    expect({ done: await done, tries }).to.deep.equal({ done: 'done', tries: 2 });
  });

  it('becomes unavailable in time for the fault that it met, though later attempts get no reply', async () => {
    const fault = Object.assign(new Error('refused'), { syscall: 'connect' });
    const times: number[] = [];
    const given = retryWhileTransient('trying', { timeout: 500 }, ({ maxTimeMS }) => {
      times.push(maxTimeMS);
      return times.length === 1 ? Promise.reject(fault) : new Promise<never>(() => {});
    });
    expect(await rejection(given)).to.include({ code: 'service_unavailable', cause: fault });
    const [, ...silent] = times;
    expect(silent).to.not.be.empty;
    expect(silent.reduce((sum, each) => sum + each)).to.be.below(505); // timers are exact to a millisecond
  });

  it("passes on this program's own errors at once and unchanged", async () => {
    for (const error of [
      new TypeError('a fault'),
      Object.assign(new Error('no'), { code: 'ERR_ASSERTION' }),
      new MongoInvalidArgumentError('an argument'),
      new MongoParseError('an option'),
      new MongoAPIError('a call'),
      new MongoTransactionError('a session'),
    ]) {
      const tried = [error, new Error('tried twice')];
      const given = retryWhileTransient('trying', patient, () => Promise.reject(tried.shift()));
      expect(await rejection(given)).to.equal(error);
    }
  });

  it('is retried after a connection failed, which the driver takes for overload, but not for a server that says so', async () => {
    const network = new MongoNetworkError('refused');
    const server = new MongoServerError({ message: 'overloaded', code: 91 });
    for (const error of [network, server]) error.addErrorLabel('SystemOverloadedError');
    const outcomes = [network, server].map((error) => {
      const tried: Error[] = [error];
      const attempt = async (): Promise<string> => {
        for (const fault of tried.splice(0)) throw fault;
        return 'done';
      };
      return retryWhileTransient('trying', patient, attempt);
    });
    const [retried, refused] = await Promise.allSettled(outcomes);
    expect(retried).to.deep.equal({ status: 'fulfilled', value: 'done' });
    expect(refused).to.have.nested.property('reason.cause', server);
  });

  const missing = Object.assign(new Error('not found'), { code: 'MODULE_NOT_FOUND' });
  const options = { cause: missing, dependencyName: 'snappy' };
  for (const [what, error] of [
    ['a package that is not installed', new MongoMissingDependencyError('no snappy', options)],
    ['a stored text that is not UTF-8', thrownBy(() => BSON.deserialize(INVALID_TEXT))],
    ['a value that BSON cannot hold', thrownBy(() => BSON.serialize({ 'a\0': 1 }))],
  ] as const) {
    it(`becomes unavailable at once for ${what}, which no retry can mend`, async () => {
      const attempts = [error, new Error('tried twice')];

      const call = retryWhileTransient('trying', patient, () => Promise.reject(attempts.shift()));

      expect(await rejection(call)).to.include({ code: 'service_unavailable', cause: error });
    });
  }

  it('does not begin an attempt after its signal was aborted', async () => {
    let begun = false;
    const reason = new Error('closed');
    const attempt = async (): Promise<void> => void (begun = true);
    expect(await rejection(within(1000, AbortSignal.abort(reason), attempt))).to.equal(reason);
    expect(begun).to.equal(false);
  });
});

describe('An insert of a document whose `_id` is taken', () => {
  const duplicate = new MongoServerError({ message: 'E11000 duplicate key', code: 11_000 });
  const inserting = (found: object | null) => {
    const collection = { insertOne: () => Promise.reject(duplicate), findOne: async () => found };
    const options = { signal: new AbortController().signal, maxTimeMS: 1000 };
    return insertOrFind(collection as unknown as Collection<{ _id: bigint }>, { _id: 1n }, options);
  };

  it('finds the document there: it may be its own, if the reply to an earlier insert was lost', async () => {
    const found = { _id: 1n };
    expect(await inserting(found)).to.equal(found);
  });

  it('is undecided while the majority does not have the other document: it may be rolled back', async () => {
    expect(await rejection(inserting(null))).to.have.property('name', 'LostRaceError');
  });
});
