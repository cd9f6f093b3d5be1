import { BusyError, type Admission, type Permit } from '../admission.js';
import type { HttpRequest } from '../http-message.js';
import { scheduler } from './fair-scheduler.js';
import { Pool } from './pool.js';

// One error for all: capturing a stack costs more than the response.
const TOO_MANY = new BusyError('too many requests at once, or too many of this caller');
const TOO_LATE = new BusyError('too busy to answer soon');

/** How long a call of the store may continue after its response and still be counted, in milliseconds. */
const MAX_ABANDONED_TIME = 60_000;

/** What the requests of a process share. */
interface Capacity {
  readonly working: Pool;
  /** Requests whose bodies are being read. */
  readonly reading: Pool;
  readonly maxWait: number;
}

/**
 * Shares the event loop and the places for requests among callers. A caller is an API key; all requests without one are
 * one caller. A request holds its place until its response is with the operating system and the store has finished. No
 * caller gets more than three quarters of the places, and a caller that holds none always gets one.
 *
 * It needs `NodeServer`: `node:http` alone begins requests that are pipelined, and does not say that their client has
 * disconnected.
 */
export class AdmissionControl implements Admission {
  readonly #capacity: Capacity;

  constructor({
    maxInFlight = 256,
    maxWait = 250,
  }: {
    /** The largest number of requests in progress, and of bodies being read: 1 or more. Default: 256. */
    readonly maxInFlight?: number | undefined;
    /** How long a request may wait for its caller's turn, in milliseconds. Default: 250. */
    readonly maxWait?: number | undefined;
  } = {}) {
    this.#capacity = { working: new Pool(maxInFlight), reading: new Pool(maxInFlight), maxWait };
  }

  /** The number of requests in progress. */
  get inFlight(): number {
    return this.#capacity.working.used;
  }

  admit(request: Pick<HttpRequest, 'onSent'>): Permit {
    return new PlacePermit(this.#capacity, request);
  }
}

/** The permit of a request, which holds at most one place. */
class PlacePermit implements Permit {
  readonly #capacity: Capacity;
  readonly #request: Pick<HttpRequest, 'onSent'>;
  #caller = '';
  /** Where the request holds its place. */
  #pool: Pool | undefined;
  #hasEnded = false;

  constructor(capacity: Capacity, request: Pick<HttpRequest, 'onSent'>) {
    this.#capacity = capacity;
    this.#request = request;
  }

  async admitCaller(keyId: string): Promise<void> {
    const { working, maxWait } = this.#capacity;
    this.#caller = keyId;
    if (working.refuses(keyId)) throw TOO_MANY;
    const since = performance.now();
    const hasWaited = await scheduler.takeTurn(keyId);
    // A pause of the whole process is not a queue: it refuses nobody.
    const isLate = hasWaited && performance.now() - since > maxWait;
    if (this.#hasEnded || isLate) throw TOO_LATE;
    this.#moveTo(working);
  }

  async whileReading<T>(work: () => Promise<T>): Promise<T> {
    this.#moveTo(this.#capacity.reading);
    const result = await work();
    this.#moveTo(this.#capacity.working);
    return result;
  }

  end(work?: Promise<unknown>): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#pool) void this.#giveBack(this.#pool, work);
  }

  /** Takes a place in a pool for the one that the request has. Once it has ended, does nothing. */
  #moveTo(pool: Pool): void {
    if (this.#hasEnded) return;
    if (pool.refuses(this.#caller)) throw TOO_MANY;
    this.#pool?.giveBack(this.#caller);
    pool.take(this.#caller);
    this.#pool = pool;
  }

  async #giveBack(pool: Pool, work: Promise<unknown> | undefined): Promise<void> {
    const request = this.#request;
    await new Promise<void>((resolve) => (request.onSent ? request.onSent(resolve) : resolve()));
    // Reading ends with the response. Only a call of the store continues after it.
    if (work && pool === this.#capacity.working) await settledOrAbandoned(work);
    pool.giveBack(this.#caller);
  }
}

/** Resolves when the work settles, at the latest after `MAX_ABANDONED_TIME`. */
const settledOrAbandoned = (work: Promise<unknown>): Promise<unknown> => {
  const abandoned = new Promise((resolve) => setTimeout(resolve, MAX_ABANDONED_TIME).unref());
  return Promise.race([Promise.allSettled([work]), abandoned]);
};
