import { inspect } from 'node:util';
import { BSON, MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';
import { UnavailableError } from '../../domain/errors.js';

/** No reply came in time: whether the attempt took effect is unknown. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
}

/** Another call was faster, or the majority does not have its write yet: the next attempt will see it. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

/** The `_id` of a document, in one line. */
export const shownId = (id: unknown): string =>
  inspect(id, { breakLength: Infinity, maxStringLength: 100 });

/** A document that this version cannot read: another program wrote it. */
export const unreadable = (collection: string, id: unknown, why: string): UnavailableError =>
  new UnavailableError(`reading ${collection}`, {
    cause: new Error(`the document ${shownId(id)} in ${collection} is not valid: ${why}`),
  });

/**
 * Whether Node.js reports a network error. The driver passes on what lookups of mongodb+srv and sockets reject with:
 * EPIPE without a `syscall` when the server ended the connection, and errors of TLS.
 */
export const isNetworkError = (error: unknown): error is Error =>
  error instanceof Error &&
  ('syscall' in error || ('code' in error && /^(?:EPIPE$|ERR_SSL_)/.test(String(error.code))));

/** Names of the driver's errors for calls that can never succeed: this program made a mistake. */
const MISUSE = new Set([
  'MongoAPIError',
  'MongoBatchReExecutionError',
  'MongoCursorInUseError',
  'MongoInvalidArgumentError',
  'MongoParseError',
  'MongoTransactionError',
]);

/** Names of the driver's errors that only a change of the URL, the installation or the server can mend. */
const LASTING = new Set([
  'MongoCompatibilityError',
  'MongoMissingCredentialsError',
  'MongoMissingDependencyError',
]);

export const isLasting = (error: unknown): boolean =>
  error instanceof MongoError && LASTING.has(error.name);

/** Whether the driver, the server or the network failed, rather than this program. */
export const isMongoFault = (error: unknown): boolean =>
  (error instanceof MongoError && !MISUSE.has(error.name)) ||
  error instanceof BSON.BSONError ||
  error instanceof NoReplyError ||
  error instanceof LostRaceError ||
  isNetworkError(error);

/**
 * Codes of a server that is stopping, starting, stepping down, unreachable for another or late:
 * https://github.com/mongodb/specifications/blob/master/source/retryable-writes/retryable-writes.md
 */
const TRANSIENT_CODES = new Set<unknown>([
  6, 7, 43, 50, 64, 89, 91, 112, 133, 134, 189, 262, 9001, 10_058, 10_107, 11_600, 11_602, 13_388,
  13_435, 13_436,
]);

/**
 * Whether a retry may succeed shortly: no server replied, or the server's state is temporary. The driver itself retries
 * once, and backs off from an overloaded server.
 */
export function isTransient(error: unknown): boolean {
  // What BSON cannot hold or read, it never can.
  if (isLasting(error) || error instanceof BSON.BSONError) return false;
  // A bulk write hides what interrupted it.
  if (error instanceof MongoBulkWriteError && error.errorResponse instanceof Error) {
    return isTransient(error.errorResponse);
  }
  if (!(error instanceof MongoServerError)) return true;
  // The driver gives the label to its own errors, too: each connection that fails.
  return TRANSIENT_CODES.has(error.code) && !error.hasErrorLabel('SystemOverloadedError');
}
