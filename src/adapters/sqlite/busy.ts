import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { isBusy, isSqliteError } from './sqlite-errors.js';

/** How long a call waits for a lock, in milliseconds, if its signal is not aborted sooner. */
const PATIENCE = 5000;

/**
 * The pause between quick tries, in milliseconds. A process that holds the lock pauses as long between commits, so that
 * others get a chance.
 */
export const PAUSE = 1;

/** How many tries follow each other quickly, to get the lock between two commits of others. */
const QUICK_TRIES = 300;

/** After how many tries a wait is reported. */
const LONG_WAIT = QUICK_TRIES + 10;

/** Later pauses are random, so that processes that began to wait together try at different times. */
const slowPause = (): number => 25 + 50 * Math.random();

/**
 * Runs `run` until no other connection is in the way. It waits on a timer, so the process goes on serving. It gives up
 * when `signal` is aborted, or after five seconds. `onLongWait` is called once, if it waits for a second or so.
 * @throws {UnavailableError} for every error of SQLite, which is its cause. Other errors of `run` pass through.
 */
export async function retryWhileBusy<Result>(
  doing: string,
  { signal, onLongWait }: CallOptions & { readonly onLongWait?: () => void },
  run: () => Result,
): Promise<Result> {
  const giveUpAt = performance.now() + PATIENCE;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return run();
    } catch (cause) {
      if (!isSqliteError(cause)) throw cause;
      const canRetry = isBusy(cause) && performance.now() < giveUpAt;
      if (!canRetry) throw new UnavailableError(doing, { cause });
    }
    if (tries === LONG_WAIT) onLongWait?.();
    await delay(tries < QUICK_TRIES ? PAUSE : slowPause());
  }
}
