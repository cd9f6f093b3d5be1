import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../application/call.js';
import type { DeprecatedCallCounter } from '../application/deprecated-call-counter.js';

/** How long between two writings, in milliseconds. */
const WRITE_INTERVAL = 5000;

/** How long a writing may take, in milliseconds: a little more than our stores wait, for their errors say more. */
const WRITE_LIMIT = 6000;

const inTime = (): Call => ({ signal: AbortSignal.timeout(WRITE_LIMIT) });

/** The writing of counts, while the service runs. */
export interface DeprecatedCallWriting {
  /** Writes what is left. Resolves when that went well, was refused or took too long. */
  stop(): Promise<void>;
}

/** Has the counter write every few seconds, until it is stopped. Keeps no process alive. */
export function startDeprecatedCallWriting(
  counter: DeprecatedCallCounter,
  interval = WRITE_INTERVAL,
): DeprecatedCallWriting {
  const stopping = new AbortController();
  const write = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await delay(interval, undefined, { ref: false, signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await counter.write(inTime());
    }
  };
  void write();
  return {
    stop() {
      stopping.abort();
      return counter.close(inTime());
    },
  };
}
