import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { AttemptTimeoutError, isMongoFault, isPassing } from './mongo-error.js';

/** How long one attempt may take, in milliseconds: a server that is silent for so long is taken for lost. */
export const ATTEMPT_TIMEOUT = 2000;

/** How long to wait before the next attempt, in milliseconds; never the same in two processes. */
const retryDelay = (tries: number): number => Math.min(200, 5 * 2 ** tries) * (0.5 + Math.random());

export interface RetryOptions extends Call {
  /** For how long to begin again, in milliseconds. */
  readonly timeout: number;
  /** How long one attempt may take, in milliseconds: `ATTEMPT_TIMEOUT` when left out. */
  readonly attemptTimeout?: number | undefined;
  /** How often to begin at most. */
  readonly attempts: number;
  /** Asked before each attempt: throws when there is to be none. */
  readonly admit: () => void;
}

/**
 * Does `attempt`, again and again while what stops it is passing (`isPassing`). So it has to be safe to repeat: what
 * an interrupted one wrote may be there, or may still come to be there.
 * @throws {UnavailableError} with the driver's own error as its cause; what else `attempt` throws is passed on.
 */
export async function retryWhilePassing<Result>(
  doing: string,
  { signal, timeout, attemptTimeout = ATTEMPT_TIMEOUT, attempts, admit }: RetryOptions,
  attempt: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const giveUpAt = performance.now() + timeout;
  let cause: unknown;
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    admit();
    const wait = retryDelay(tries);
    try {
      return await within(Math.min(attemptTimeout, giveUpAt - performance.now()), signal, attempt);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMongoFault(error)) throw error;
      // The last attempt may have been given too little time to say what is wrong.
      if (cause === undefined || !(error instanceof AttemptTimeoutError)) cause = error;
      if (tries >= attempts || !isPassing(error) || performance.now() + wait >= giveUpAt) {
        throw new UnavailableError(doing, { cause });
      }
    }
    await delay(wait, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/**
 * Settles as `attempt` does, but not later than after `milliseconds` or when `outer` is aborted: its signal is
 * aborted then, which takes the driver's connection with it, and nothing waits for what cannot be aborted.
 */
export function within<Result>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  attempt: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  return new Promise<Result>((resolve, reject) => {
    const end = (reason: unknown): void => {
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => end(outer?.reason);
    const timer = setTimeout(() => end(new AttemptTimeoutError('no answer in time')), milliseconds);
    outer?.addEventListener('abort', onAbort, { once: true });
    void attempt(controller.signal)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        outer?.removeEventListener('abort', onAbort);
      });
  });
}
