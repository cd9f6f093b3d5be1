/** An item of a `FairScheduler`. */
export interface Waiting {
  /** The scheduler serves callers in turn. */
  readonly caller: string;
  /** When it was deferred, by `performance.now()`; `undefined` while it does not wait. Set by the scheduler only. */
  deferredAt: number | undefined;
  /** Whether its client has gone: the scheduler drops it. */
  readonly isGone: boolean;
  /** Starts it, or refuses it if it is late. */
  start(isLate: boolean): void;
}

/** Options of `FairScheduler`. */
export interface FairSchedulerOptions {
  /** How long an item may wait before it is late, in milliseconds. Default: for ever. */
  readonly maxWait?: number;
  /**
   * Whether to batch: after a turn that started several items, new ones wait for the next turn. Items that take the
   * same steps cost less together.
   */
  readonly gathers?: boolean;
}

/** The cost of refusing an item. */
const REFUSED = 1 / 2;

/** While a caller is overdue, every fourth item taken is its oldest; the others are its newest. */
const OLDEST_OF = 4;

/** The waiting items of a caller. `Array.shift` moves every item of a long array; this one moves each item once. */
class Queue {
  #items: Waiting[] = [];
  #taken = 0;

  get oldest(): Waiting | undefined {
    return this.#items[this.#taken];
  }

  push(item: Waiting): void {
    this.#items.push(item);
  }

  shift(): Waiting | undefined {
    const { oldest } = this;
    if (oldest) this.#taken += 1;
    if (this.#taken > this.#items.length / 2) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return oldest;
  }

  pop(): Waiting | undefined {
    return this.oldest && this.#items.pop();
  }
}

/**
 * Shares the event loop: starts at most `perTurn` items a turn, round-robin over callers. So neither a flood nor a greedy
 * caller delays other callers, timers and health checks by more than a few milliseconds.
 *
 * The items of a caller keep their order until the oldest is late. Then there is more work than time, and in order
 * everything would be late: the newest items, whose clients still wait, come first, and the oldest are refused now and
 * then (adaptive LIFO).
 */
export class FairScheduler {
  readonly #perTurn: number;
  readonly #maxWait: number;
  readonly #gathers: boolean;
  readonly #queues = new Map<string, Queue>();
  /** While it is true, nothing starts. */
  isHeld = false;
  #left: number;
  #usual = 1;
  #takenWhileLate = 0;
  #isScheduled = false;
  #hasAccepted = false;
  /** When the last turn began, if the next one came right after it. */
  #began = Infinity;
  #acceptingUntil: number | undefined;

  /** @param perTurn how many items start in one turn of the event loop, at a cost of 1 each */
  constructor(perTurn: number, { maxWait = Infinity, gathers = false }: FairSchedulerOptions = {}) {
    this.#perTurn = perTurn;
    this.#maxWait = maxWait;
    this.#gathers = gathers;
    this.#left = perTurn;
  }

  /** Call it for every accepted connection. While more arrive, half of the time goes to accepting them. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /**
   * Whether one more item may start at once. Room is renewed in the turn after an item found none, so that light load
   * needs no callback in every turn.
   */
  hasRoom(): boolean {
    if (this.isHeld || this.#left < 1 || this.#queues.size > 0) return false;
    this.#left -= this.#usual;
    return true;
  }

  /** Records the cost of an item that was started: 1 or more. A moving average estimates the next. */
  charge(cost: number): void {
    this.#usual += (cost - this.#usual) / 8;
  }

  /** Starts an item in a later turn. It waits once, however often this is called. */
  defer(item: Waiting): void {
    if (item.deferredAt !== undefined) return;
    item.deferredAt = performance.now();
    const queue = this.#queues.get(item.caller) ?? new Queue();
    if (queue.oldest === undefined) this.#queues.set(item.caller, queue);
    queue.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#begin);
  }

  readonly #begin = (): void => {
    this.#isScheduled = false;
    const now = performance.now();
    // Node.js accepts one connection a turn: if every turn were full, clients would give up before they are accepted.
    if (this.#hasAccepted) this.#acceptingUntil ??= now + (now - this.#began);
    const isAccepting = this.#hasAccepted && now < (this.#acceptingUntil ?? 0);
    this.#hasAccepted = false;
    if (isAccepting || this.isHeld) return this.#schedule();
    this.#acceptingUntil = undefined;
    this.#left = this.#perTurn;
    let taken = 0;
    for (const [caller, queue] of this.#queues) {
      if (this.#left < 1) break;
      taken += 1;
      const item = this.#take(queue, now);
      this.#queues.delete(caller);
      if (queue.oldest) this.#queues.set(caller, queue); // behind the other callers
      if (item === undefined) continue;
      const isLate = this.#isLate(item, now);
      item.deferredAt = undefined;
      this.#left -= isLate ? REFUSED : this.#usual;
      item.start(isLate);
    }
    if (this.#gathers && taken > 1) this.#left = 0;
    this.#began = this.#queues.size > 0 ? now : Infinity;
    if (this.#queues.size > 0) this.#schedule();
  };

  /** Takes the next item of a caller. */
  #take(queue: Queue, now: number): Waiting | undefined {
    while (queue.oldest?.isGone) queue.shift();
    const { oldest } = queue;
    const isNewest = oldest && this.#isLate(oldest, now) && (this.#takenWhileLate += 1) % OLDEST_OF !== 0;
    if (!isNewest) return queue.shift();
    let newest = queue.pop();
    while (newest?.isGone) newest = queue.pop();
    return newest;
  }

  #isLate({ deferredAt = Infinity }: Waiting, now: number): boolean {
    return now - deferredAt > this.#maxWait;
  }
}
