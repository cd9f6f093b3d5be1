import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions } from '../../application/animal-store.js';
import { UnavailableError, isError } from '../../domain/errors.js';

// Primary result codes of SQLite: the low byte of its extended codes (https://sqlite.org/rescode.html).
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_PROTOCOL = 15; // several connections opened the write-ahead log at once

/** Whether SQLite itself reported the error. All others are faults of the program. */
export const isSqliteError = (error: unknown): error is Error & { readonly errcode: number } =>
  isError(error) && 'errcode' in error;

/** Whether another connection holds a lock, so that a retry can succeed. Nothing was changed. */
export const isBusy = (error: unknown): boolean =>
  isSqliteError(error) && [SQLITE_BUSY, SQLITE_PROTOCOL].includes(error.errcode & 0xff);

/** Whether there was no room on the disk. */
export const isFull = (error: unknown): boolean =>
  isSqliteError(error) && (error.errcode & 0xff) === SQLITE_FULL;

/** A call gives up after so many milliseconds, if its signal does not end it sooner. */
const PATIENCE = 5000;

/** This many tries follow each other quickly, to get the lock between two commits of others. */
const QUICK_TRIES = 300;
/** After this many tries a wait is reported. */
const LONG_WAIT = QUICK_TRIES + 10;

/** The pause between quick tries, in milliseconds. Whoever holds the lock pauses as long, so that a try can get it. */
export const PAUSE = 1;

/**
 * Runs `run` until no other connection is in the way. It waits on a timer, so the process goes on serving. It gives up
 * when `signal` is aborted, or after five seconds. `onLongWait` is called once, if it waits for a second or so.
 * @throws {UnavailableError} with SQLite's error as its cause. Other errors of `run` pass through.
 */
export async function retryWhileBusy<Result>(
  doing: string,
  { signal, onLongWait }: CallOptions & { readonly onLongWait?: () => void },
  run: () => Result,
): Promise<Result> {
  let giveUpAt: number | undefined;
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return run();
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause;
      giveUpAt ??= performance.now() + PATIENCE;
      if (!isBusy(cause) || performance.now() >= giveUpAt)
        throw new UnavailableError(doing, { cause });
    }
    if (tries === LONG_WAIT) onLongWait?.();
    await delay(tries < QUICK_TRIES ? PAUSE : 25 + 50 * Math.random());
  }
}
