import { setImmediate as nextTurn } from 'node:timers/promises';

/** So many tasks go the same way step by step, which is cheaper: their code stays in the processor's caches. */
const GROUP = 16;
/** How long groups are started in one turn of the event loop, in milliseconds. */
const TURN = 5;
/** While connections come, so many turns in a row accept one and start nothing. */
const MOST_PASSED = 16;

/**
 * Shares the event loop: starts tasks for a few milliseconds in a turn, round-robin over callers. So neither a flood nor
 * a greedy caller keeps other callers, timers and health checks waiting for long. Started together, "200 clients that
 * ask for the longest page" would stall the event loop.
 */
export class FairScheduler {
  /** The waiting tasks by caller, the oldest first. The caller whose turn is next comes first. */
  readonly #queues = new Map<string, Array<() => void>>();
  #isStarting = false;
  #hasAccepted = false;

  /** Resolves when a task of `caller` may start. */
  takeTurn(caller: string): Promise<void> {
    const turn = new Promise<void>((start) => {
      const queue = this.#queues.get(caller);
      if (queue) queue.push(start);
      else this.#queues.set(caller, [start]);
    });
    if (!this.#isStarting) void this.#startWaiting();
    return turn;
  }

  /**
   * Call it for every accepted connection. Node.js accepts one a turn: if every turn were full, clients would wait for
   * as many turns as there are connections before theirs ("200 clients that ask for the longest page").
   */
  accepted(): void {
    this.#hasAccepted = true;
  }

  async #startWaiting(): Promise<void> {
    this.#isStarting = true;
    while (this.#queues.size > 0) {
      await this.#quietTurn();
      const began = performance.now();
      do {
        this.#startGroup();
        // Goes on when the group has done what it can do in this turn, so that its time is known.
        await new Promise<void>((resolve) => process.nextTick(resolve));
      } while (this.#queues.size > 0 && performance.now() - began < TURN);
    }
    this.#isStarting = false;
  }

  /** Resolves in the next turn that accepts no connection, or after `MOST_PASSED` that did. */
  async #quietTurn(): Promise<void> {
    for (let passed = 0; passed <= MOST_PASSED; passed += 1) {
      this.#hasAccepted = false;
      await nextTurn();
      if (!this.#hasAccepted) return;
    }
  }

  #startGroup(): void {
    let started = 0;
    for (const [caller, queue] of this.#queues) {
      if (started === GROUP) return;
      started += 1;
      queue.shift()?.();
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue); // behind the other callers
    }
  }
}
