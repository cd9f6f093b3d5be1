import { setTimeout as delay } from 'node:timers/promises';
import { unlessAborted } from '../../application/abort.js';
import { isTransient } from './mongo-errors.js';

/** The pauses before further tries, in milliseconds: they double. */
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 200;

/**
 * Tries `work`, and again after each transient failure. Once the limit, in milliseconds, is over or the signal is aborted,
 * no try begins, and one in progress goes on: the driver gets no signal, because it would close the connection.
 * @throws the last failure, `signal.reason`, or a `TimeoutError` if the first try takes too long
 */
export async function repeat<Result>(
  work: () => Promise<Result>,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const late = AbortSignal.timeout(limit);
  let failure: unknown;

  async function tryOften(): Promise<Result> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
      try {
        return await work();
      } catch (error) {
        if (!isTransient(error)) throw error;
        failure = error;
      }
      await delay(pause);
      if (late.aborted || signal?.aborted) throw failure;
    }
  }

  try {
    return await unlessAborted(unlessAborted(tryOften(), late), signal);
  } catch (error) {
    throw error === late.reason ? (failure ?? error) : error;
  }
}
