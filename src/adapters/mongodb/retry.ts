import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  BSON,
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
  type Collection,
  type Filter,
  type ObjectId,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';

/** The outcome of the attempt is unknown: it took too long, or the majority does not have it yet. */
export class UndecidedError extends Error {
  override readonly name = 'UndecidedError';
}

/** A document that this version cannot read: another program wrote it. */
export const unreadable = (collection: string, id: unknown, why: string): UnavailableError => {
  const name = inspect(id, { breakLength: Infinity, maxStringLength: 100 });
  return new UnavailableError(`reading ${collection}`, {
    cause: new Error(`the document ${name} in ${collection} is not valid: ${why}`),
  });
};

/** A document with this `_id` exists already. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 11_000;

/**
 * Whether Node.js reports a network error. The driver passes on what lookups of mongodb+srv and sockets reject with:
 * EPIPE without a `syscall` when the server ended the connection, and errors of TLS.
 */
const isNetworkError = (error: unknown): boolean =>
  error instanceof Error &&
  ('syscall' in error || ('code' in error && /^(?:EPIPE$|ERR_SSL_)/.test(String(error.code))));

/** Whether the driver, the server or the network failed, rather than this program. */
const isMongoFault = (error: unknown): boolean =>
  error instanceof MongoError ||
  error instanceof BSON.BSONError ||
  error instanceof UndecidedError ||
  isNetworkError(error);

/**
 * Codes of a server that is stopping, starting, stepping down, unreachable for another or late:
 * https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md
 */
const PASSING_CODES = new Set<unknown>([
  6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 189, 262, 9001, 10_058, 10_107, 11_600, 11_602, 13_388, 13_435,
  13_436,
]);

/** Whether a retry may succeed shortly. The driver itself has already retried on an overloaded server. */
function isPassing(error: unknown): boolean {
  if (error instanceof MongoError && error.hasErrorLabel('SystemOverloadedError')) return false;
  // A bulk write hides the labels and the class of what interrupted it.
  if (error instanceof MongoBulkWriteError && error.errorResponse instanceof Error)
    return isPassing(error.errorResponse);
  if (error instanceof MongoServerError && !(error instanceof MongoWriteConcernError)) {
    return PASSING_CODES.has(error.code) || error.hasErrorLabel('RetryableWriteError');
  }
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    // The first connection failed: the next call opens another.
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoWriteConcernError ||
    error instanceof UndecidedError ||
    isNetworkError(error) ||
    // All connections are in use. The driver does not export the class.
    (error instanceof Error && error.name === 'MongoWaitQueueTimeoutError')
  );
}

/** The innermost error with the same message: the driver wraps an error in two more that repeat it. */
function rootOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message === (error as Error).message ? rootOf(cause) : error;
}

/** A server silent this long is presumed dead, in milliseconds. */
export const SILENCE_LIMIT = 2000;

/** What every operation of an attempt passes to the driver. The server stops working on it after `maxTimeMS`. */
export interface Attempt {
  readonly signal: AbortSignal;
  readonly maxTimeMS: number;
}

export interface RetryOptions extends Call {
  /** How long to retry, in milliseconds. An attempt gets two fifths: a server silent that long is presumed dead. */
  readonly timeout: number;
  /** Default: true. */
  readonly retry?: boolean | undefined;
}

/**
 * Runs `attempt`, and retries it while it fails for a reason that passes. It must be safe to repeat: what an interrupted
 * attempt wrote may be stored already, or later.
 * @throws {UnavailableError} with the driver's error as its cause. Any other error of `attempt` is passed on.
 */
export async function retryWhilePassing<Result>(
  doing: string,
  { signal, timeout, retry = true }: RetryOptions,
  attempt: (options: Attempt) => Promise<Result>,
): Promise<Result> {
  const giveUpAt = performance.now() + timeout;
  let cause: unknown;
  for (let pause = 10; ; pause = Math.min(200, pause * 2)) {
    signal?.throwIfAborted();
    const wait = pause * (0.5 + Math.random());
    try {
      return await within(Math.min((timeout * 2) / 5, giveUpAt - performance.now()), signal, attempt);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMongoFault(error)) throw error;
      // The last attempt may have had too little time to find out what is wrong.
      if (cause === undefined || !(error instanceof UndecidedError)) cause = rootOf(error);
      if (!retry || !isPassing(error) || performance.now() + wait >= giveUpAt) {
        throw new UnavailableError(doing, { cause });
      }
    }
    await delay(wait, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/**
 * Settles as `attempt` does, but at the latest after `milliseconds` or when `outer` is aborted: then the attempt's
 * signal is aborted, too, and nobody waits for it. An attempt does not begin when `outer` is aborted already.
 */
export function within<Result>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  attempt: (options: Attempt) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  return new Promise<Result>((resolve, reject) => {
    outer?.throwIfAborted();
    const end = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => end(outer?.reason);
    const timer = setTimeout(() => end(new UndecidedError('no answer in time')), milliseconds);
    outer?.addEventListener('abort', onAbort, { once: true });
    void attempt({ signal: controller.signal, maxTimeMS: Math.max(1, Math.ceil(milliseconds)) })
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        outer?.removeEventListener('abort', onAbort);
      });
  });
}

/**
 * Inserts a document whose `operation` makes that safe to repeat: if the reply to an earlier insert was lost, this one
 * recognises it. Resolves to `false` when the document of another operation has the `_id`.
 */
export async function insertOnce<
  Stored extends { readonly _id: bigint | string; readonly operation: ObjectId },
>(
  collection: Collection<Stored>,
  document: Stored & OptionalUnlessRequiredId<Stored>,
  options: Attempt,
): Promise<boolean> {
  try {
    await collection.insertOne(document, options);
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const { _id, operation } = document;
  const found = await collection.findOne({ _id } as Filter<Stored>, {
    ...options,
    projection: { operation: 1 },
  });
  if (found === null)
    throw new UndecidedError(`the majority does not have ${_id} in ${collection.collectionName} yet`);
  return operation.equals(found['operation']);
}
