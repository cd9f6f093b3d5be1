// Primary result codes of SQLite, the low byte of its extended ones.
const SQLITE_BUSY = 5;
const SQLITE_PROTOCOL = 15; // several connections opened the write-ahead log at once
const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;

const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;

/** Whether another connection is in the way, so that the same can work a moment later. Nothing was changed. */
export const isBusy = (error: unknown): boolean =>
  [SQLITE_BUSY, SQLITE_PROTOCOL].some((code) => code === resultCode(error));

/** Whether an error of SQLite speaks of the store and not of the values given to one statement. */
export const isStoreFault = (error: unknown): boolean =>
  isSqliteError(error) &&
  ![SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH].some((code) => code === resultCode(error));

/** Whether SQLite itself gave the error. */
export const isSqliteError = (error: unknown): boolean => resultCode(error) !== undefined;
