/** Something that waits for its turn. */
export interface Waiting {
  /** Who waits: callers take turns, and what one caller waits for keeps its order. */
  readonly caller: string;
  /** Whether it need not wait any more: it is then left out. */
  readonly isGone: boolean;
  /** Starts it. `waited` says for how long it waited, in milliseconds. Returns whether there is still something to do. */
  start(waited: number): boolean;
}

/** In the next turn of the event loop. Only Node.js and its like have the better one. */
const soon: (run: () => void) => unknown = globalThis['setImmediate'] ?? ((run) => setTimeout(run));

/** What starting something too late costs: refusing it is all that is left to do. */
const TOO_LATE = 1 / 8;

/**
 * Shares the event loop. In each of its turns only so much is started; the rest waits. Callers take turns, however much
 * each waits for. So neither a flood nor a greedy caller delays the others, timers and health checks by more than a few
 * milliseconds.
 */
export class Turns {
  readonly #perTurn: number;
  readonly #waiting = new Map<string, Map<Waiting, number>>();
  #left: number;
  #usual = 1;
  #isScheduled = false;
  #hasAccepted = false;
  /** When the last turn began, if the next one came right after it. */
  #began = Infinity;
  #acceptingUntil: number | undefined;

  /** @param perTurn how many are started in one turn of the event loop, if each costs 1 */
  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Tells of a new connection. While there are more of them, half of the time goes to accepting. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /**
   * Whether one more may start at once. A turn that has room to its end is not seen to end, so that light load costs
   * nothing: one in so many waits for the next.
   */
  hasRoom(): boolean {
    if (this.#left < 1 || this.#waiting.size > 0) return false;
    this.#left -= this.#usual;
    return true;
  }

  /** Tells what one that was started turned out to cost: 1 or more. What is started next is taken to cost the like. */
  charge(cost: number): void {
    this.#usual += (cost - this.#usual) / 8;
  }

  /** Starts it in a later turn. It waits once, however often this is called. */
  defer(waiting: Waiting): void {
    const { caller } = waiting;
    const others = this.#waiting.get(caller);
    if (others === undefined) this.#waiting.set(caller, new Map([[waiting, performance.now()]]));
    else if (!others.has(waiting)) others.set(waiting, performance.now());
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    soon(this.#begin);
  }

  readonly #begin = (): void => {
    this.#isScheduled = false;
    const now = performance.now();
    // Node accepts one connection a turn: if every turn were full, clients would have given up before they are accepted.
    if (this.#hasAccepted) this.#acceptingUntil ??= now + (now - this.#began);
    const isAccepting = this.#hasAccepted && now < (this.#acceptingUntil ?? 0);
    this.#hasAccepted = false;
    if (isAccepting) return this.#schedule();
    this.#acceptingUntil = undefined;
    this.#left = this.#perTurn;
    for (const [caller, others] of this.#waiting) {
      if (this.#left < 1) break;
      this.#waiting.delete(caller);
      const [first] = others;
      if (first === undefined) continue;
      const [waiting, since] = first;
      others.delete(waiting);
      // Behind the other callers, who are next.
      if (others.size > 0) this.#waiting.set(caller, others);
      if (!waiting.isGone) this.#left -= waiting.start(now - since) ? this.#usual : TOO_LATE;
    }
    this.#began = this.#waiting.size > 0 ? now : Infinity;
    if (this.#waiting.size > 0) this.#schedule();
  };
}
