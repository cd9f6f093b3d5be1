import { BusyError, type Admission, type Permit } from '../admission.js';
import { FairScheduler } from './fair-scheduler.js';
import { usableMemory } from './server-limits.js';

const STARTED_PER_TURN = 64;

/** Sending this many characters costs about as much as the rest of a request. */
const SMALL = 4 * 1024;

// Shared, because capturing a stack costs more than the response.
const TOO_MANY = new BusyError('too many requests at once, or too many of this caller');
const TOO_MUCH_UNREAD = new BusyError('the clients of this caller leave too much unread');
const TOO_LATE = new BusyError('too busy to answer soon');

/**
 * Shares the event loop, the room for requests and the memory for unread responses among callers. A caller is an API key;
 * all requests without one are one caller. No caller gets more than three quarters of room and memory. A request
 * whose key is not checked yet counts against the total only.
 */
export class AdmissionControl implements Admission {
  readonly #bounds: Bounds;

  constructor({
    maxInFlight = 256,
    maxWait = 250,
    maxUnsent = usableMemory() / 4,
  }: {
    /** The largest number of requests in progress, and of bodies being read: 1 or more. Default: 256. */
    readonly maxInFlight?: number | undefined;
    /** How long a request may wait for its caller's turn, in milliseconds. Default: 250. */
    readonly maxWait?: number;
    /** The most that all clients together may leave unread, in bytes. Default: a quarter of the usable memory. */
    readonly maxUnsent?: number;
  } = {}) {
    this.#bounds = {
      working: new Shares(maxInFlight),
      reading: new Shares(maxInFlight),
      unsent: new Shares(maxUnsent),
      scheduler: new FairScheduler(STARTED_PER_TURN, { maxWait, gathers: true }),
    };
  }

  /** The number of requests in progress. */
  get inFlight(): number {
    return this.#bounds.working.used;
  }

  /** The bytes of responses that clients have not read yet. */
  get unsent(): number {
    return this.#bounds.unsent.used;
  }

  /** Call it for every accepted connection. While more arrive, half of the time goes to accepting them. */
  accepted(): void {
    this.#bounds.scheduler.accepted();
  }

  /** Adds bytes of a response that the client has not read; a negative number once it reads them or disconnects. */
  countUnsent(keyId: string, bytes: number): void {
    this.#bounds.unsent.add(keyId, bytes);
  }

  admit(): Permit {
    return new HeldPermit(this.#bounds);
  }
}

class Shares {
  readonly #most: number;
  readonly #mostEach: number;
  readonly #byCaller = new Map<string, number>();
  used = 0;

  constructor(most: number) {
    this.#most = most;
    this.#mostEach = Math.ceil(most * 0.75);
  }

  /** @throws {BusyError} nothing is left, or the caller has used its part */
  check(caller: string | undefined): void {
    if (this.used >= this.#most || (caller !== undefined && this.isBeyond(caller))) throw TOO_MANY;
  }

  /** Whether a caller uses too much: its whole part, or anything while nothing is left. */
  isBeyond(caller: string): boolean {
    const held = this.#byCaller.get(caller) ?? 0;
    return held >= this.#mostEach || (held > 0 && this.used >= this.#most);
  }

  /** Adds to what a caller uses, without a check. */
  add(caller: string | undefined, count: number): void {
    this.used += count;
    if (caller === undefined) return;
    const held = (this.#byCaller.get(caller) ?? 0) + count;
    if (held > 0) this.#byCaller.set(caller, held);
    else this.#byCaller.delete(caller);
  }
}

type Bounds = Readonly<
  Record<'working' | 'reading' | 'unsent', Shares> & { scheduler: FairScheduler }
>;

/** Counts its request once: as in progress, as reading its body, or not at all while it waits for its turn. */
class HeldPermit implements Permit {
  readonly #bounds: Bounds;
  #caller: string | undefined;
  #held: Shares | undefined;
  #hasEnded = false;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#take(bounds.working);
  }

  admitCaller(keyId: string): Promise<void> | undefined {
    const { working, unsent, scheduler } = this.#bounds;
    this.#giveBack();
    this.#caller = keyId;
    // A caller that reads its responses is served, whatever others leave unread.
    if (unsent.isBeyond(keyId)) throw TOO_MUCH_UNREAD;
    if (!scheduler.hasRoom()) {
      working.check(keyId);
      return this.#waitForTurn();
    }
    this.#take(working);
    return undefined;
  }

  async whileClient<T>(work: () => Promise<T>): Promise<T> {
    this.#take(this.#bounds.reading);
    const result = await work();
    this.#take(this.#bounds.working);
    return result;
  }

  end(length: number): void {
    if (this.#hasEnded) return;
    this.#giveBack();
    this.#hasEnded = true;
    this.#bounds.scheduler.charge(1 + length / SMALL);
  }

  async #waitForTurn(): Promise<void> {
    const isLate = await new Promise<boolean>((start) => {
      this.#bounds.scheduler.defer({ caller: this.#caller, deferredAt: undefined, start });
    });
    if (isLate || this.#hasEnded) throw TOO_LATE;
    this.#take(this.#bounds.working);
  }

  /** Takes one of these, if one is left for the caller, in place of what it holds. */
  #take(shares: Shares): void {
    this.#giveBack();
    if (this.#hasEnded) return;
    shares.check(this.#caller);
    shares.add(this.#caller, 1);
    this.#held = shares;
  }

  #giveBack(): void {
    this.#held?.add(this.#caller, -1);
    this.#held = undefined;
  }
}
