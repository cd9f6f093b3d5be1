import { setTimeout as delay } from 'node:timers/promises';
import { unlessAborted } from '../../application/call-options.js';
import { isTransient } from './mongo-errors.js';

/** The first pause between two tries, in milliseconds. Each further pause is twice as long. */
const FIRST_PAUSE = 10;

/** The longest pause, in milliseconds. */
const LONGEST_PAUSE = 200;

/**
 * Does `work`, and retries it after each transient failure, for `timeout` milliseconds at most or until `signal` is
 * aborted. A try in progress continues: if the driver got the signal, it would close the connection. `work` gets a
 * function that throws once the call was rejected.
 * @throws the last failure, `signal.reason`, or a `TimeoutError` if the first try takes too long
 */
export async function retry<Result>(
  work: (requirePending: () => void) => Promise<Result>,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  let isOver = false;
  let failure: unknown;

  function requirePending(): void {
    if (isOver) throw new Error('the call was already rejected');
  }

  async function tryUntilDone(): Promise<Result> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
      try {
        return await work(requirePending);
      } catch (error) {
        if (!isTransient(error)) throw error;
        failure = error;
      }
      await delay(pause);
      requirePending();
    }
  }

  // AbortSignal.timeout would cost five times as much.
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(failure ?? new DOMException('The call took too long', 'TimeoutError')),
    timeout,
  );
  try {
    return await unlessAborted(Promise.race([tryUntilDone(), late.promise]), signal);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
