import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from './sqlite-errors.js';

/** How long a call waits for the lock of another process, in milliseconds. */
const LOCK_TIMEOUT = 5000;

/** The pause between two tries, in milliseconds: other events get their turn. */
const PAUSE = 10;

/** How long SQLite itself waits for a lock in each try, which blocks the process, in milliseconds. */
export const BUSY_TIMEOUT = 20;

/**
 * Does `work`, and retries it while another process holds a lock, until `LOCK_TIMEOUT` or `signal` is aborted.
 * @throws what `work` throws last, or the signal's reason
 */
export async function retryWhileBusy<Result>(
  signal: AbortSignal | undefined,
  work: () => Result,
): Promise<Result> {
  const giveUpAt = performance.now() + LOCK_TIMEOUT;
  while (true) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error;
    }
    await delay(PAUSE);
    signal?.throwIfAborted();
  }
}
