/** While connections come, so many turns in a row accept one and start nothing. */
const MOST_PASSED = 16;

/**
 * Shares the event loop: starts at most `perTurn` tasks in a turn, round-robin over callers. So neither a flood nor a
 * greedy caller delays other callers, timers and health checks by more than a few milliseconds.
 */
export class FairScheduler {
  readonly #perTurn: number;
  /** The waiting tasks by caller, the oldest first. The caller whose turn is next comes first. */
  readonly #queues = new Map<string, Array<(now: number) => void>>();
  #left: number;
  #usual = 1;
  #hasAccepted = false;
  #passed = 0;

  /** @param perTurn how many tasks start in one turn of the event loop, at a cost of 1 each */
  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /**
   * Lets a task of `caller` start: at once, or when the promise resolves, to the time at which that turn began. The budget of a turn is filled again in the
   * next turn, and only after it ran out: light load needs no callback in every turn.
   */
  takeTurn(caller: string): Promise<number> | undefined {
    if (this.#left >= 1) {
      this.#left -= this.#usual;
      return undefined;
    }
    if (this.#queues.size === 0) setImmediate(this.#begin);
    return new Promise((start) => {
      const queue = this.#queues.get(caller);
      if (queue) queue.push(start);
      else this.#queues.set(caller, [start]);
    });
  }

  /**
   * Records the cost of a task that was started: 1 or more. A moving average estimates the next: pages of 400 KB, 64 of
   * them in one turn, would stall the event loop ("200 clients that ask for the longest page").
   */
  charge(cost: number): void {
    this.#usual += (cost - this.#usual) / 8;
  }

  /**
   * Call it for every accepted connection. Node.js accepts one a turn: if every turn were full, clients would wait for
   * as many turns as there are connections before theirs ("200 clients that ask for the longest page").
   */
  accepted(): void {
    this.#hasAccepted = true;
  }

  readonly #begin = (): void => {
    if (this.#hasAccepted && this.#passed < MOST_PASSED) {
      this.#hasAccepted = false;
      this.#passed += 1;
      setImmediate(this.#begin);
      return;
    }
    this.#passed = 0;
    this.#left = this.#perTurn;
    const now = performance.now();
    let started = 0;
    for (const [caller, queue] of this.#queues) {
      if (this.#left < 1) break;
      this.#left -= this.#usual;
      started += 1;
      queue.shift()?.(now);
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue); // behind the other callers
    }
    if (this.#queues.size > 0) setImmediate(this.#begin);
    // What comes together is started together in the next turn: a get costs 1.3 times as much otherwise.
    if (started > 1) this.#left = 0;
  };
}
