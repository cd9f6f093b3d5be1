import { UnavailableError } from '../../domain/errors.js';

/** Primary result codes of SQLite: https://sqlite.org/rescode.html */
const CODES = {
  BUSY: 5,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  PROTOCOL: 15,
  NOTADB: 26,
};

/** Whether the primary code, which is the low byte of an extended one, is `code`. */
export const hasCode = (error: unknown, code: keyof typeof CODES): boolean =>
  (Object(error).errcode & 0xff) === CODES[code];

/** Whether another process holds a lock. PROTOCOL: several processes opened the log at the same time. */
export const isBusy = (error: unknown): boolean =>
  hasCode(error, 'BUSY') || hasCode(error, 'PROTOCOL');

/** Whether SQLite or the operating system reported it. */
export const isStoreFailure = (error: unknown): error is Error =>
  error instanceof Error && ('errcode' in error || 'syscall' in error);

/**
 * Returns a function that throws a failure of the store as an `UnavailableError`, and any other error as it is.
 * @param doing names the call, as in "reading an animal"
 */
export const throwAsUnavailable =
  (doing: string) =>
  (cause: unknown): never => {
    throw isStoreFailure(cause) ? new UnavailableError(doing, { cause }) : cause;
  };
