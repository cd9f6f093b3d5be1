import { BusyError, type Admission, type Permit } from '../admission.js';
import { FairScheduler } from './fair-scheduler.js';
import { usableMemory } from './server-limits.js';

// Shared, because capturing a stack costs more than the response.
const TOO_MANY = new BusyError('too many requests at once, or too many of this caller');
const STORE_STILL_WORKS = new BusyError('the store still works for too many earlier requests');
const TOO_MUCH_UNREAD = new BusyError('the clients of this caller leave too much unread');
const TOO_LATE = new BusyError('too busy to answer soon');

/** The part of a pool that one caller may hold. */
const SHARE = 0.75;
/** How long a call of the store may go on after its response and still be counted, in milliseconds. */
const MOST_ABANDONED = 60_000;

/**
 * Shares the event loop, the room for requests and the memory for unread responses among callers. A caller is an API
 * key; all requests without one are one caller. No caller gets more than three quarters of a pool, and a caller that
 * holds nothing in it always gets a place.
 */
export class AdmissionControl implements Admission {
  readonly #bounds: Bounds;

  constructor({
    maxInFlight = 256,
    maxWait = 250,
    maxUnsent = usableMemory() / 4,
  }: {
    /**
     * The largest number of requests in progress, of bodies being read, and of calls of the store that go on after
     * their responses: 1 or more. Default: 256.
     */
    readonly maxInFlight?: number | undefined;
    /** How long a request may wait for its caller's turn, in milliseconds. Default: 250. */
    readonly maxWait?: number;
    /** The most that all clients together may leave unread, in bytes. Default: a quarter of the usable memory. */
    readonly maxUnsent?: number;
  } = {}) {
    // NaN would mean no bound.
    if (!(maxInFlight >= 0)) throw new TypeError('maxInFlight must be a number of 0 or more');
    this.#bounds = {
      unchecked: new Pool(Infinity, 1),
      working: new Pool(maxInFlight, SHARE),
      reading: new Pool(maxInFlight, SHARE),
      abandoned: new Pool(maxInFlight, SHARE),
      unread: new Pool(maxUnsent, SHARE),
      scheduler: new FairScheduler(),
      maxWait,
    };
  }

  /** The number of requests in progress, the unchecked ones included. */
  get inFlight(): number {
    return this.#bounds.unchecked.used + this.#bounds.working.used;
  }

  /** The bytes of responses that clients have not read yet. */
  get unsent(): number {
    return this.#bounds.unread.used;
  }

  /** Call it for every accepted connection: while more come, most turns of the event loop go to accepting them. */
  accepted(): void {
    this.#bounds.scheduler.accepted();
  }

  /** Adds bytes of a response that the client has not read; a negative number once it reads them or disconnects. */
  countUnsent(keyId: string, bytes: number): void {
    this.#bounds.unread.add(keyId, bytes);
  }

  admit(): Permit {
    return new HeldPermit(this.#bounds);
  }
}

/** Something that is limited, and how much of it each caller holds. */
class Pool {
  readonly #most: number;
  readonly #mostEach: number;
  readonly #held = new Map<string, number>();
  used = 0;

  /** @param share the part of `most` that one caller may hold: up to 1 */
  constructor(most: number, share: number) {
    this.#most = most;
    this.#mostEach = Math.ceil(most * share);
  }

  /** Whether a caller gets nothing more: it holds its whole share, or anything while nothing is left. */
  refuses(caller: string): boolean {
    const held = this.#held.get(caller) ?? 0;
    return held >= this.#mostEach || (held > 0 && this.used >= this.#most);
  }

  /** Adds to what a caller holds, without a check. */
  add(caller: string, count: number): void {
    this.used += count;
    const held = (this.#held.get(caller) ?? 0) + count;
    if (held > 0) this.#held.set(caller, held);
    else this.#held.delete(caller);
  }
}

interface Bounds {
  /** Requests whose key is being checked. The connections of the server bound them. */
  readonly unchecked: Pool;
  /** Requests in progress. */
  readonly working: Pool;
  /** Requests whose bodies are being read. */
  readonly reading: Pool;
  /** Calls of the store that go on after their responses. */
  readonly abandoned: Pool;
  /** Bytes that clients have not read. */
  readonly unread: Pool;
  readonly scheduler: FairScheduler;
  readonly maxWait: number;
}

/** Holds a place in one pool at a time, and none while it waits for its turn. */
class HeldPermit implements Permit {
  readonly #bounds: Bounds;
  #caller = '';
  #pool: Pool | undefined;
  #hasEnded = false;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#moveTo(bounds.unchecked);
  }

  async admitCaller(keyId: string): Promise<void> {
    const { working, abandoned, unread, scheduler, maxWait } = this.#bounds;
    this.#hold(undefined);
    this.#caller = keyId;
    if (unread.refuses(keyId)) throw TOO_MUCH_UNREAD;
    if (abandoned.refuses(keyId)) throw STORE_STILL_WORKS;
    if (working.refuses(keyId)) throw TOO_MANY;
    const since = performance.now();
    const turnsOfOthers = await scheduler.takeTurn(keyId);
    // A pause of the process, as for a slow disk, is no queue.
    const isLate = turnsOfOthers > 0 && performance.now() - since > maxWait;
    if (this.#hasEnded || isLate) throw TOO_LATE;
    this.#moveTo(working);
  }

  async whileClient<T>(work: () => Promise<T>): Promise<T> {
    this.#moveTo(this.#bounds.reading);
    const result = await work();
    this.#moveTo(this.#bounds.working);
    return result;
  }

  end(_length: number, work?: Promise<unknown>): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { working, abandoned } = this.#bounds;
    const goesOn = work !== undefined && this.#pool === working;
    this.#hold(goesOn ? abandoned : undefined);
    if (!goesOn) return;
    const settle = (): void => this.#hold(undefined);
    work.then(settle, settle);
    setTimeout(settle, MOST_ABANDONED).unref();
  }

  /** Takes a place in a pool in exchange for the one that it holds. */
  #moveTo(pool: Pool): void {
    if (this.#hasEnded) return;
    if (pool.refuses(this.#caller)) throw TOO_MANY;
    this.#hold(pool);
  }

  #hold(pool: Pool | undefined): void {
    this.#pool?.add(this.#caller, -1);
    pool?.add(this.#caller, 1);
    this.#pool = pool;
  }
}
