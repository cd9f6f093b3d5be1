import { expect } from 'chai';
import {
  BSON,
  MongoAPIError,
  type MongoError,
  MongoInvalidArgumentError,
  MongoMissingDependencyError,
  MongoNetworkError,
  MongoParseError,
  MongoServerError,
  MongoTransactionError,
  type Collection,
} from 'mongodb';
import { insertOrFind, retryWhileTransient } from '../../../src/adapters/mongodb/retry.js';
import { rejection } from './mongo-store-tests.js';

/** A document whose text is a single byte that UTF-8 does not allow. */
const INVALID_TEXT = Buffer.from('0e000000026e0002000000ff0000', 'hex');

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

/** Makes a call whose attempts fail with these errors, in order, before one succeeds. Resolves to "done". */
function calling(errors: readonly unknown[], timeout = 2000): Promise<string> {
  const left = [...errors];
  return retryWhileTransient('trying', { timeout }, async () => {
    if (left.length === 0) return 'done';
    throw left.shift();
  });
}

/** Codes of a server whose state ends by itself. */
const PASSING = [
  6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 189, 262, 9001, 10_058, 10_107, 11_600, 11_602, 13_388,
  13_435, 13_436,
];

const OWN_ERRORS: readonly Error[] = [
  new TypeError('a fault'),
  Object.assign(new Error('no'), { code: 'ERR_ASSERTION' }),
  new MongoInvalidArgumentError('an argument'),
  new MongoParseError('an option'),
  new MongoAPIError('a call'),
  new MongoTransactionError('a session'),
];

function labelledOverload(error: MongoError): MongoError {
  error.addErrorLabel('SystemOverloadedError');
  return error;
}

/** Errors of connections. Node.js makes the first two; the driver passes them on while it waits for a socket. */
const PASSING_ERRORS = {
  'a write after the server ended the connection': Object.assign(new Error('ended'), {
    code: 'EPIPE',
  }),
  'a greeting by TLS to a server without it': Object.assign(new Error('no TLS'), {
    code: 'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  }),
  'a failed connection, which the driver takes for overload': labelledOverload(
    new MongoNetworkError('refused'),
  ),
};

const LASTING_ERRORS = {
  'a package that is not installed': new MongoMissingDependencyError('no snappy', {
    cause: Object.assign(new Error('not found'), { code: 'MODULE_NOT_FOUND' }),
    dependencyName: 'snappy',
  }),
  'a stored text that is not UTF-8': thrownBy(() => BSON.deserialize(INVALID_TEXT)),
  'a value that BSON cannot hold': thrownBy(() => BSON.serialize({ 'a\0': 1 })),
  'a server that says that it is overloaded': labelledOverload(
    new MongoServerError({ message: 'overloaded', code: 91 }),
  ),
};

describe('A call to MongoDB', () => {
  for (const [what, error] of Object.entries(PASSING_ERRORS)) {
    it(`is retried with pauses after ${what}, until it becomes unavailable`, async () => {
      let tries = 0;

      const never = retryWhileTransient('trying', { timeout: 400 }, async () => {
        tries += 1;
        throw error;
      });

      expect(await rejection(never)).to.include({
        code: 'service_unavailable',
        cause: error,
      });
      expect(tries, 'tries with pauses').to.be.within(2, 20);
    });
  }

  it('is retried in every state of a server that ends by itself', async () => {
    const calls = PASSING.map((code) => {
      const error = new MongoServerError({ message: `error ${code}`, code });
      return calling([error]).catch(() => `not retried: ${code}`);
    });

    const outcomes = new Set(await Promise.all(calls));

    expect([...outcomes]).to.deep.equal(['done']);
  });

  it('is retried when no reply comes, long before it is given up: a connection may be dead', async () => {
    const limits: number[] = [];

    const outcome = await retryWhileTransient(
      'trying',
      { timeout: 1000 },
      async ({ maxTimeMS }) => {
        limits.push(maxTimeMS);
        return limits.length === 1 ? new Promise<never>(() => {}) : 'done';
      },
    );

    expect(outcome).to.equal('done');
    expect(limits, 'attempts').to.have.length(2);
    expect(limits[0], 'milliseconds of the first').to.be.at.most(500);
  });

  it('becomes unavailable in time for the fault that it met, though later attempts get no reply', async () => {
    const fault = Object.assign(new Error('refused'), { syscall: 'connect' });
    const times: number[] = [];

    const call = retryWhileTransient('trying', { timeout: 500 }, ({ maxTimeMS }) => {
      times.push(maxTimeMS);
      return times.length === 1 ? Promise.reject(fault) : new Promise<never>(() => {});
    });

    expect(await rejection(call)).to.include({
      code: 'service_unavailable',
      cause: fault,
    });
    const silent = times.slice(1);
    expect(silent).to.not.be.empty;
    const sum = silent.reduce((all, each) => all + each);
    expect(sum, 'milliseconds without a reply').to.be.below(505); // timers are exact to a millisecond
  });

  for (const error of OWN_ERRORS) {
    it(`passes on an error of this program at once and unchanged: ${error.name} of ${error.message}`, async () => {
      expect(await rejection(calling([error]))).to.equal(error);
    });
  }

  for (const [what, error] of Object.entries(LASTING_ERRORS)) {
    it(`becomes unavailable at once for ${what}, which no retry can mend`, async () => {
      const reason = await rejection(calling([error]));

      expect(reason).to.include({ code: 'service_unavailable', cause: error });
    });
  }
});

describe('An insert of a document whose `_id` is taken', () => {
  const duplicate = new MongoServerError({ message: 'E11000 duplicate key', code: 11_000 });
  const inserting = (found: object | null) => {
    const collection = {
      insertOne: () => Promise.reject(duplicate),
      findOne: async () => found,
    };
    const options = { signal: new AbortController().signal, maxTimeMS: 1000 };
    return insertOrFind(collection as unknown as Collection<{ _id: bigint }>, { _id: 1n }, options);
  };

  it('finds the document there: it may be its own, if the reply to an earlier insert was lost', async () => {
    const stored = { _id: 1n };

    const found = await inserting(stored);

    expect(found).to.equal(stored);
  });

  it('is undecided while the majority does not have the other document: it may be rolled back', async () => {
    const error = await rejection(inserting(null));

    expect(error).to.have.property('name', 'LostRaceError');
  });
});
