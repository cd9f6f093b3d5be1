// Primary result codes, the low byte of SQLite's extended ones: https://sqlite.org/rescode.html
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_PROTOCOL = 15; // several connections opened the write-ahead log at once
const SQLITE_NOTADB = 26;

/** An extended code. */
const SQLITE_READONLY_ROLLBACK = 776;

/** Whether SQLite itself reported the error. All others are faults of the program. */
export const isSqliteError = (error: unknown): error is Error & { readonly errcode: number } =>
  error instanceof Error && 'errcode' in error;

const hasCode = (error: unknown, ...codes: readonly number[]): boolean =>
  isSqliteError(error) && codes.includes(error.errcode & 0xff);

/** Whether another connection holds a lock, so that a retry can succeed. Nothing was changed. */
export const isBusy = (error: unknown): boolean => hasCode(error, SQLITE_BUSY, SQLITE_PROTOCOL);

/** Whether there was no room on the disk. */
export const isFull = (error: unknown): boolean => hasCode(error, SQLITE_FULL);

/** Whether SQLite must undo an unfinished write before it can read, but the connection may not write. */
export const needsRollback = (error: unknown): boolean =>
  isSqliteError(error) && error.errcode === SQLITE_READONLY_ROLLBACK;

/** Whether the file is damaged, or no database. */
export const isDamaged = (error: unknown): boolean => hasCode(error, SQLITE_CORRUPT, SQLITE_NOTADB);
