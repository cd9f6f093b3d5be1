import {
  BSON,
  MongoError,
  MongoErrorLabel,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';
import { IdempotencyConflictError, InvalidPetError } from '../../domain/errors.js';

/** The URL or the database cannot be used. The message is one line without secrets. */
export class MongoStoreError extends Error {
  override readonly name = 'MongoStoreError';
  /** A retry cannot succeed. */
  readonly isPermanent = true;
}

/** Whether the error does not say what is wrong with the servers: none was found in time, or the call took too long. */
export const lacksReason = (error: unknown): boolean =>
  error instanceof MongoServerSelectionError ||
  (error instanceof DOMException && error.name === 'TimeoutError');

/** Whether the network failed. The driver does not wrap some errors of sockets and look-ups. */
const isNetworkFailure = (error: unknown): boolean =>
  error instanceof MongoNetworkError || /^(?:E[A-Z]+|ERR_SSL_.+)$/.test(Object(error).code);

/** Whether the database or its data caused the error, not this program. */
export const isStoreFailure = (error: unknown): boolean =>
  error instanceof MongoError ||
  error instanceof BSON.BSONError ||
  error instanceof MongoStoreError ||
  error instanceof InvalidPetError || // a stored document
  lacksReason(error) ||
  isNetworkFailure(error);

/**
 * The codes after which drivers retry a read, most of them of elections. The driver does not export its list:
 * https://github.com/mongodb/specifications/tree/master/source/retryable-reads
 */
const RETRYABLE_CODES = new Set<unknown>([
  6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);

/** Whether another try may succeed shortly: after a failure of the network, an election, or a race for a claim. */
export const isTransient = (error: unknown): boolean =>
  isNetworkFailure(error) ||
  error instanceof MongoServerSelectionError ||
  error instanceof IdempotencyConflictError ||
  (error instanceof MongoServerError &&
    (RETRYABLE_CODES.has(error.code) || error.hasErrorLabel(MongoErrorLabel.RetryableWriteError)));

const UNIQUE_FIELDS = ['_id', 'claim.key'] as const;

export type UniqueField = (typeof UNIQUE_FIELDS)[number];

/** The unique field whose value another document has. `undefined` for any other error. */
export const takenField = (error: unknown): UniqueField | undefined =>
  error instanceof MongoServerError && error.code === 11000
    ? UNIQUE_FIELDS.find((field) => field in error['keyPattern'])
    : undefined;
