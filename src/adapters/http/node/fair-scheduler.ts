import { setImmediate as nextIteration } from 'node:timers/promises';

/** Tasks start in groups of at most this many: it is cheaper, because their code stays in the processor's caches. */
const MAX_GROUP_SIZE = 24;
/** How long tasks are started in one iteration of the event loop, in milliseconds. */
const TIME_PER_ITERATION = 5;
/** While connections come, at most this many iterations in a row accept one and start nothing. */
const MAX_ACCEPTING_ITERATIONS = 32;

/**
 * Shares the event loop: in each of its iterations, starts tasks for a few milliseconds. Callers have their turns
 * round-robin. So neither a flood nor a greedy caller keeps other callers, timers and health checks waiting for long.
 */
export class FairScheduler {
  /** The waiting tasks by caller, the oldest first. The caller whose turn is next comes first. */
  readonly #queues = new Map<string, Array<() => void>>();
  #isRunning = false;
  /** The number of iterations in which tasks have started. */
  #iterations = 0;
  #groupSize = MAX_GROUP_SIZE;
  #hasAccepted = false;

  /**
   * Waits for a turn of `caller`: then a task may start. Resolves to true if that took more than one iteration.
   * @param caller a key id, an IP address, or a queue of new connections
   */
  takeTurn(caller = ''): Promise<boolean> {
    const earliest = this.#iterations + 1;
    const turn = new Promise<boolean>((resolve) => {
      const start = (): void => resolve(this.#iterations > earliest);
      const queue = this.#queues.get(caller);
      if (queue) queue.push(start);
      else this.#queues.set(caller, [start]);
    });
    if (!this.#isRunning) void this.#runTasks();
    return turn;
  }

  /**
   * Call it for every accepted connection. Node.js accepts one in each iteration: if tasks filled them all, a client
   * would wait for as many as there are connections before its own.
   */
  noteAccepted(): void {
    this.#hasAccepted = true;
  }

  async #runTasks(): Promise<void> {
    this.#isRunning = true;
    while (this.#queues.size > 0) {
      await this.#quietIteration();
      this.#iterations += 1;
      let left = TIME_PER_ITERATION;
      while (left > 0 && this.#queues.size > 0) left -= await this.#startGroup();
    }
    this.#isRunning = false;
  }

  /** Resolves in the next iteration that accepts no connection, or after `MAX_ACCEPTING_ITERATIONS` that did. */
  async #quietIteration(): Promise<void> {
    for (let accepting = 0; accepting <= MAX_ACCEPTING_ITERATIONS; accepting += 1) {
      this.#hasAccepted = false;
      await nextIteration();
      if (!this.#hasAccepted) return;
    }
  }

  /**
   * Starts a group. Resolves to the milliseconds that it took. A group that takes too long halves the next one; a full
   * one that does not lets it grow by one.
   */
  async #startGroup(): Promise<number> {
    const began = performance.now();
    let started = 0;
    // A caller with further tasks goes behind the others: this loop meets it again after them.
    for (const [caller, queue] of this.#queues) {
      if (started === this.#groupSize) break;
      started += 1;
      queue.shift()?.();
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue);
    }
    // Ticks run after all microtasks: by then every task of the group has finished or waits for I/O.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const took = performance.now() - began;
    if (took > TIME_PER_ITERATION) this.#groupSize = Math.ceil(this.#groupSize / 2);
    else if (started === this.#groupSize && started < MAX_GROUP_SIZE) this.#groupSize += 1;
    return took;
  }
}

/** The scheduler of this process: it has one event loop. */
export const scheduler = new FairScheduler();
