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

/** Whether SQLite gave this code, the low byte of an extended one. */
export const hasCode = (error: unknown, code: keyof typeof CODES): boolean =>
  (Object(error).errcode & 0xff) === CODES[code];

/** Whether SQLite or the operating system reported it. All else is a fault of the program. */
export const isOfTechnology = (error: unknown): error is Error =>
  error instanceof Error && ('errcode' in error || 'syscall' in error);

/** What a call rejects with that was doing this. */
export const rejectionFor = (doing: string, cause: unknown): unknown =>
  isOfTechnology(cause) ? new UnavailableError(doing, { cause }) : cause;
