import { BusyError, type Admission, type Permit } from '../admission.js';
import type { HttpRequest } from '../http-message.js';
import { scheduler } from './fair-scheduler.js';

// One error for all: capturing a stack costs more than the response.
const TOO_MANY = new BusyError('too many requests at once, or too many of this caller');
const TOO_LATE = new BusyError('too busy to answer soon');

/** The part of a pool that one caller may hold. */
const SHARE = 0.75;
/** How long a call of the store may continue after its response and still be counted, in milliseconds. */
const MAX_ABANDONED_TIME = 60_000;

/**
 * Shares the event loop and the places for requests among callers. A caller is an API key; all requests without one are
 * one caller. A request holds its place until its client has read the response and the store has finished. No caller
 * gets more than three quarters of the places, and a caller that holds none always gets one.
 */
export class AdmissionControl implements Admission {
  readonly #working: Pool;
  /** Requests whose bodies are being read. */
  readonly #reading: Pool;
  readonly #maxWait: number;

  constructor({
    maxInFlight = 256,
    maxWait = 250,
  }: {
    /** The largest number of requests in progress, and of bodies being read: 1 or more. Default: 256. */
    readonly maxInFlight?: number | undefined;
    /** How long a request may wait for its caller's turn, in milliseconds. Default: 250. */
    readonly maxWait?: number;
  } = {}) {
    this.#working = new Pool(maxInFlight);
    this.#reading = new Pool(maxInFlight);
    this.#maxWait = maxWait;
  }

  /** The number of requests in progress. */
  get inFlight(): number {
    return this.#working.used;
  }

  admit(request: Pick<HttpRequest, 'onSent'>): Permit {
    let caller = '';
    let place: Pool | undefined;
    let hasEnded = false;
    /** Takes a place in a pool, and gives back the one that the request has. */
    const moveTo = (pool: Pool): void => {
      if (hasEnded) return;
      if (pool.refuses(caller)) throw TOO_MANY;
      place?.add(caller, -1);
      pool.add(caller, 1);
      place = pool;
    };
    return {
      admitCaller: async (keyId) => {
        caller = keyId;
        if (this.#working.refuses(caller)) throw TOO_MANY;
        const since = performance.now();
        const hasQueued = await scheduler.takeTurn(caller);
        // A pause of the whole process is not a queue: it refuses nobody.
        const isLate = hasQueued && performance.now() - since > this.#maxWait;
        if (hasEnded || isLate) throw TOO_LATE;
        moveTo(this.#working);
      },
      whileReading: async (work) => {
        moveTo(this.#reading);
        const result = await work();
        moveTo(this.#working);
        return result;
      },
      end: (work) => {
        if (hasEnded) return;
        hasEnded = true;
        const pool = place;
        if (pool === undefined) return;
        const sent = new Promise<void>((resolve) =>
          request.onSent ? request.onSent(resolve) : resolve(),
        );
        // Reading ends with the response. Only a call of the store may go on.
        const settled = pool === this.#working && work && settledOrAbandoned(work);
        void Promise.allSettled([sent, settled]).then(() => pool.add(caller, -1));
      },
    };
  }
}

/** Settles when the work does, at the latest after `MAX_ABANDONED_TIME`. */
const settledOrAbandoned = (work: Promise<unknown>): Promise<unknown> => {
  const late = new Promise((resolve) => setTimeout(resolve, MAX_ABANDONED_TIME).unref());
  return Promise.race([work, late]);
};

/** Places, and how many of them each caller holds. */
class Pool {
  readonly #size: number;
  readonly #held = new Map<string, number>();
  used = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether a caller gets no further place: it holds its whole share, or it holds any and none is left. */
  refuses(caller: string): boolean {
    const held = this.#held.get(caller) ?? 0;
    if (held === 0) return false;
    const share = Math.ceil(this.#size * SHARE);
    return held >= share || this.used >= this.#size;
  }

  /** Adds to the places that a caller holds, without a check. */
  add(caller: string, count: number): void {
    this.used += count;
    const held = (this.#held.get(caller) ?? 0) + count;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
  }
}
