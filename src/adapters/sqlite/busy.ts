import { setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '../../domain/errors.js';

// Primary result codes of SQLite: the low byte of its extended codes (https://sqlite.org/rescode.html).
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_PROTOCOL = 15; // several connections opened the write-ahead log at once

/** Whether SQLite itself reported the error. All others are faults of the program. */
export const isSqliteError = (error: unknown): error is Error & { readonly errcode: number } =>
  error instanceof Error && 'errcode' in error;

/** Whether another connection holds a lock, so that a retry can succeed. Nothing was changed. */
export const isBusy = (error: unknown): boolean =>
  isSqliteError(error) && [SQLITE_BUSY, SQLITE_PROTOCOL].includes(error.errcode & 0xff);

/** Whether there was no room on the disk. */
export const isFull = (error: unknown): boolean =>
  isSqliteError(error) && (error.errcode & 0xff) === SQLITE_FULL;

/** Milliseconds before the next try: short at first, at most 75, and different in every process. */
export const retryDelay = (tries: number): number => Math.min(50, 2 ** tries) * (0.5 + Math.random());

/**
 * Runs `run` until no other connection is in the way. It waits on a timer, so the process goes on serving. It gives up
 * when `signal` is aborted or, without a signal, after `busyTimeout` milliseconds.
 * @throws {UnavailableError} with SQLite's error as its cause. Other errors of `run` pass through.
 */
export async function retryWhileBusy<Result>(
  doing: string,
  { signal, busyTimeout }: { readonly signal?: AbortSignal | undefined; readonly busyTimeout: number },
  run: () => Result,
): Promise<Result> {
  let giveUpAt = Infinity;
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return run();
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause;
      if (tries === 0 && signal === undefined) giveUpAt = performance.now() + busyTimeout;
      if (!isBusy(cause) || performance.now() >= giveUpAt) throw new UnavailableError(doing, { cause });
    }
    await delay(retryDelay(tries));
  }
}
