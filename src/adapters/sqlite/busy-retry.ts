import { setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '../../domain/errors.js';
import { isBusy } from './sqlite-error.js';

/**
 * How long to wait before the next try, in milliseconds: short at first, as most locks are held for less than
 * one, growing to some 50, and never the same in two processes.
 */
export const retryDelay = (tries: number): number => Math.min(50, 2 ** tries) * (0.5 + Math.random());

/**
 * Does `run`, again and again while another connection is in the way: from a timer, so that nothing else in
 * this process waits. Ends when `signal` is aborted, or without a signal after `busyTimeout` milliseconds.
 * @throws {UnavailableError} with whatever `run` threw as its cause.
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
      if (tries === 0 && signal === undefined) giveUpAt = performance.now() + busyTimeout;
      if (!isBusy(cause) || performance.now() >= giveUpAt) throw new UnavailableError(doing, { cause });
    }
    await delay(retryDelay(tries));
  }
}
