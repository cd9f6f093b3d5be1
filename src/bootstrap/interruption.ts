import { constants } from 'node:os';
import { InterruptedError } from '../adapters/cli/interrupted-error.js';

/** A terminal's Ctrl-C reaches the program twice within a millisecond when it was started by npm. */
const SAME_SIGNAL = 1000;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Does `work` with a signal that is aborted, with an `InterruptedError`, when the process is told to stop. A
 * second time, a second or more later, ends the process at once.
 */
export async function interruptible<T>(
  process: NodeJS.Process,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    const error = new InterruptedError(name, 128 + (constants.signals[name] ?? 0));
    if (firstAt !== undefined && performance.now() - firstAt >= SAME_SIGNAL) process.exit(error.exitCode);
    firstAt ??= performance.now();
    stop.abort(error);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}
