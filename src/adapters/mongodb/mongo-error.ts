import {
  BSON,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';

/** An attempt took too long. What it was doing may have happened. */
export class AttemptTimeoutError extends Error {
  override readonly name = 'AttemptTimeoutError';
}

/** A document was in the way that the majority does not have yet: it may come to stay or be rolled back. */
export class UndecidedError extends Error {
  override readonly name = 'UndecidedError';
}

/**
 * Whether the error is one of Node.js about the network. The look-up of mongodb+srv rejects with such, and so does a
 * command that waits for its socket to take more: the driver passes on what the socket emits. Where it is written to
 * after the server ended it, that is a bare EPIPE, without the name of a system call; errors of TLS have none either.
 */
const isNetworkFault = (error: unknown): boolean =>
  error instanceof Error &&
  ('syscall' in error || ('code' in error && /^(?:EPIPE$|ERR_SSL_)/.test(String(error.code))));

/** Whether the error is the driver's, the server's or the network's, and not one of this program. */
export const isMongoFault = (error: unknown): boolean =>
  error instanceof MongoError ||
  error instanceof BSON.BSONError ||
  error instanceof AttemptTimeoutError ||
  error instanceof UndecidedError ||
  isNetworkFault(error);

/** A document with this `_id` is there already. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 11_000;

/**
 * Codes of a server that is stopping, starting, stepping down, out of reach of another or late:
 * https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md
 */
const PASSING_CODES = new Set<unknown>([
  6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 189, 262, 9001, 10_058, 10_107, 11_600, 11_602, 13_388, 13_435,
  13_436,
]);

/**
 * Whether the same may go well when it is done again shortly. What was to be written may have been written. A server
 * that says it is overloaded is not asked again: the driver has done that.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof MongoError && error.hasErrorLabel('SystemOverloadedError')) return false;
  if (error instanceof MongoServerError && !(error instanceof MongoWriteConcernError)) {
    return PASSING_CODES.has(error.code) || error.hasErrorLabel('RetryableWriteError');
  }
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    // By a first connection that failed: the next call makes another one.
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoWriteConcernError ||
    error instanceof AttemptTimeoutError ||
    error instanceof UndecidedError ||
    isNetworkFault(error) ||
    // The driver keeps the class of this one to itself: all connections were in use.
    (error instanceof Error && error.name === 'MongoWaitQueueTimeoutError')
  );
}
