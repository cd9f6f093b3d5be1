import { BusyError, type Admission, type Permit } from '../admission.js';
import { FairScheduler } from './fair-scheduler.js';
import { SERVER_LIMITS, usableMemory } from './server-limits.js';

const STARTED_PER_TURN = 64;

/** Sending this many characters costs about as much as the rest of a request. */
const SMALL = 4 * 1024;

// Shared, because capturing a stack costs more than the response.
const TOO_MANY = new BusyError('too many requests at once, or too many of this caller');
const TOO_MUCH_UNREAD = new BusyError('the clients of this caller leave too much unread');
const TOO_LATE = new BusyError('too busy to answer soon');

/** How long a call of the store may go on after its response and still be counted, in milliseconds. */
const MOST_ABANDONED = 60_000;

/**
 * Shares the event loop, the room for requests and the memory for unread responses among callers. A caller is an API
 * key; all requests without one are one caller. No caller gets more than three quarters of a pool, and a caller that
 * holds nothing in it always gets a place.
 */
export class AdmissionControl implements Admission {
  readonly #pools: Pools;
  readonly #scheduler = new FairScheduler(STARTED_PER_TURN);
  readonly #maxWait: number;

  constructor({
    maxInFlight = 256,
    maxUnchecked = SERVER_LIMITS.maxConnections,
    maxWait = 250,
    maxUnsent = usableMemory() / 4,
  }: {
    /**
     * The largest number of requests in progress, of bodies being read, and of calls of the store that go on after
     * their responses: 1 or more. Default: 256.
     */
    readonly maxInFlight?: number | undefined;
    /**
     * The largest number of requests whose keys are being checked. Default: 2,000, the most connections of a
     * `NodeServer`, so that strangers take no place of others.
     */
    readonly maxUnchecked?: number;
    /** How long a request may wait for its caller's turn, in milliseconds. Default: 250. */
    readonly maxWait?: number;
    /** The most that all clients together may leave unread, in bytes. Default: a quarter of the usable memory. */
    readonly maxUnsent?: number;
  } = {}) {
    const shared = (most: number): Pool => new Pool(most, Math.ceil(most * 0.75));
    this.#pools = {
      unchecked: new Pool(maxUnchecked),
      working: shared(maxInFlight),
      reading: shared(maxInFlight),
      abandoned: shared(maxInFlight),
      unsent: shared(maxUnsent),
    };
    this.#maxWait = maxWait;
  }

  /** The number of requests in progress, the unchecked ones included. */
  get inFlight(): number {
    return this.#pools.unchecked.used + this.#pools.working.used;
  }

  /** The bytes of responses that clients have not read yet. */
  get unsent(): number {
    return this.#pools.unsent.used;
  }

  /** Adds bytes of a response that the client has not read; a negative number once it reads them or disconnects. */
  countUnsent(keyId: string, bytes: number): void {
    this.#pools.unsent.add(keyId, bytes);
  }

  admit(): Permit {
    return new HeldPermit(this.#pools, this.#scheduler, this.#maxWait);
  }
}

/** Something that is limited, and how much of it each caller holds. */
class Pool {
  readonly #most: number;
  readonly #mostEach: number;
  readonly #held = new Map<string, number>();
  used = 0;

  constructor(most: number, mostEach = most) {
    this.#most = most;
    this.#mostEach = mostEach;
  }

  /** Whether a caller gets nothing more: it holds its whole part, or anything while nothing is left. */
  isFull(caller: string): boolean {
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

/**
 * What is limited: requests whose key is being checked, requests in progress, requests whose bodies are being read,
 * calls of the store that go on after their responses, and the bytes that clients have not read.
 */
type Pools = Readonly<Record<'unchecked' | 'working' | 'reading' | 'abandoned' | 'unsent', Pool>>;

/** Holds a place in one pool at a time, and none while it waits for its turn. */
class HeldPermit implements Permit {
  readonly #pools: Pools;
  readonly #scheduler: FairScheduler;
  readonly #maxWait: number;
  #caller = '';
  #pool: keyof Pools | undefined;
  #hasEnded = false;

  constructor(pools: Pools, scheduler: FairScheduler, maxWait: number) {
    this.#pools = pools;
    this.#scheduler = scheduler;
    this.#maxWait = maxWait;
    this.#moveTo('unchecked');
  }

  admitCaller(keyId: string): Promise<void> | undefined {
    const { working, abandoned, unsent } = this.#pools;
    this.#leave();
    this.#caller = keyId;
    if (unsent.isFull(keyId)) throw TOO_MUCH_UNREAD;
    if (working.isFull(keyId) || abandoned.isFull(keyId)) throw TOO_MANY;
    const turn = this.#scheduler.takeTurn(keyId);
    if (turn) return this.#waitFor(turn);
    this.#moveTo('working');
    return undefined;
  }

  async whileClient<T>(work: () => Promise<T>): Promise<T> {
    this.#moveTo('reading');
    const result = await work();
    this.#moveTo('working');
    return result;
  }

  end(length: number, work?: Promise<unknown>): void {
    if (this.#hasEnded) return;
    const goesOn = work !== undefined && this.#pool === 'working';
    this.#leave();
    this.#hasEnded = true;
    this.#scheduler.charge(1 + length / SMALL);
    if (goesOn) this.#countAbandoned(work);
  }

  /** Counts a call that does not heed its signal, until it settles. One that never does blocks its caller for a minute. */
  #countAbandoned(work: Promise<unknown>): void {
    const { abandoned } = this.#pools;
    abandoned.add(this.#caller, 1);
    const late = new Promise((resolve) => setTimeout(resolve, MOST_ABANDONED).unref());
    const settle = (): void => abandoned.add(this.#caller, -1);
    Promise.race([work, late]).then(settle, settle);
  }

  async #waitFor(turn: Promise<void>): Promise<void> {
    const since = performance.now();
    await turn;
    if (this.#hasEnded || performance.now() - since > this.#maxWait) throw TOO_LATE;
    this.#moveTo('working');
  }

  /** Takes a place in a pool in exchange for the one that it holds. */
  #moveTo(name: keyof Pools): void {
    this.#leave();
    if (this.#hasEnded) return;
    const pool = this.#pools[name];
    if (pool.isFull(this.#caller)) throw TOO_MANY;
    pool.add(this.#caller, 1);
    this.#pool = name;
  }

  #leave(): void {
    if (this.#pool) this.#pools[this.#pool].add(this.#caller, -1);
    this.#pool = undefined;
  }
}
