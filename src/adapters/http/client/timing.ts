import { systemClock, type Clock } from '../../../application/ports/clock.js';

/** Time and chance as the client knows them. Tests bring their own. */
export interface Timing extends Clock {
  /** Milliseconds on a clock that only goes forward; `now` may be set back. */
  elapsed(): number;
  /** From 0 to below 1. */
  random(): number;
  /** Calls back once, after the milliseconds. What it returns cancels that. */
  schedule(milliseconds: number, callback: () => void): () => void;
}

export const systemTiming: Timing = {
  ...systemClock,
  elapsed: () => performance.now(),
  random: () => Math.random(),
  schedule: (milliseconds, callback) => {
    // Keeps a program alive that waits for nothing else; none outlives the call that it is for.
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
