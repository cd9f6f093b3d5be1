import type { Call } from '../../../application/animal-store.js';
import type { Timing } from './timing.js';

interface Limit extends Call {
  readonly timing: Timing;
  readonly milliseconds: number;
}

/**
 * The result of `work`, waited for until the time is over or the signal is aborted, whether or not the work
 * heeds the signal that it is given. Leaves neither a timer nor a listener behind.
 * @param late makes what it rejects with when the time is over
 */
export function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { signal, timing, milliseconds, late }: Limit & { readonly late: () => Error },
): Promise<T> {
  const controller = new AbortController();
  const waiting = settledBy<T>(signal, (resolve, reject) => {
    work(controller.signal).then(resolve, reject);
    return timing.schedule(milliseconds, () => reject(late()));
  });
  // Ends what the work still has open: a connection, a body that is only half read.
  return waiting.catch((error: unknown) => {
    controller.abort();
    throw error;
  });
}

/** Resolves after the time, or rejects with the signal's reason. */
export const pause = ({ signal, timing, milliseconds }: Limit): Promise<void> =>
  settledBy<void>(signal, (resolve) => timing.schedule(milliseconds, resolve));

/** A promise that rejects with the signal's reason, too. What `start` returns is called when it is settled. */
function settledBy<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (reason: Error) => void) => () => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (): void => {
      stop();
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      reject(signal?.reason);
    };
    const stop = start(
      (value) => {
        end();
        resolve(value);
      },
      (reason) => {
        end();
        reject(reason);
      },
    );
    signal?.addEventListener('abort', abort);
  });
}
