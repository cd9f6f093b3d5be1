/** What a `FairScheduler` starts. */
export interface Task {
  /** The scheduler serves callers in turn. */
  readonly caller: string | undefined;
  /** When it was deferred, by `performance.now()`; `undefined` while it does not wait. Set by the scheduler only. */
  deferredAt: number | undefined;
  /** Starts it, or refuses it if it is late. */
  start(isLate: boolean): void;
}

/** The cost of refusing a task. */
const REFUSED = 1 / 2;

/**
 * Shares the event loop: starts at most `perTurn` tasks a turn, round-robin over callers. So neither a flood nor a greedy
 * caller delays other callers, timers and health checks by more than a few milliseconds.
 *
 * The tasks of a caller keep their order until the oldest is late. Then there is more work than time, and in order
 * everything would be late: the newest tasks, whose clients still wait, come first, and the oldest are refused now and
 * then (adaptive LIFO).
 */
export class FairScheduler {
  readonly #perTurn: number;
  readonly #maxWait: number;
  readonly #gathers: boolean;
  /** The waiting tasks by caller, the oldest first. The caller whose turn is next comes first. */
  readonly #queues = new Map<string | undefined, Task[]>();
  /** While it is true, nothing starts. */
  isHeld = false;
  #left: number;
  #usual = 1;
  #startedWhileLate = 0;
  #isScheduled = false;
  #hasAccepted = false;
  /** When the last turn began, if the next one came right after it. */
  #began = Infinity;
  #acceptingUntil: number | undefined;

  /**
   * @param perTurn how many tasks start in one turn of the event loop, at a cost of 1 each
   * @param maxWait how long a task may wait before it is late, in milliseconds. Default: for ever.
   * @param gathers whether new tasks wait after a turn that started several: they cost less together. Default: no.
   */
  constructor(perTurn: number, { maxWait = Infinity, gathers = false } = {}) {
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
   * Whether one more task may start at once. The budget of a turn is filled again in the next turn, and only after it
   * ran out: light load needs no callback in every turn.
   */
  hasRoom(): boolean {
    if (this.isHeld || this.#left < 1 || this.#queues.size > 0) return false;
    this.#left -= this.#usual;
    return true;
  }

  /** Records the cost of a task that was started: 1 or more. A moving average estimates the next. */
  charge(cost: number): void {
    this.#usual += (cost - this.#usual) / 8;
  }

  /** Starts a task in a later turn. It waits once, however often this is called. */
  defer(task: Task): void {
    if (task.deferredAt !== undefined) return;
    task.deferredAt = performance.now();
    const queue = this.#queues.get(task.caller);
    if (queue) queue.push(task);
    else this.#queues.set(task.caller, [task]);
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
    let started = 0;
    for (const [caller, queue] of this.#queues) {
      if (this.#left < 1) break;
      started += 1;
      const task = this.#takeFrom(queue, now);
      this.#queues.delete(caller);
      if (queue.length > 0) this.#queues.set(caller, queue); // behind the other callers
      const isLate = this.#isLate(task, now);
      task.deferredAt = undefined;
      this.#left -= isLate ? REFUSED : this.#usual;
      task.start(isLate);
    }
    if (this.#gathers && started > 1) this.#left = 0;
    this.#began = this.#queues.size > 0 ? now : Infinity;
    if (this.#queues.size > 0) this.#schedule();
  };

  #takeFrom(queue: Task[], now: number): Task {
    const [oldest] = queue as [Task];
    // While a caller is overdue, every fourth task that starts is its oldest.
    const isNewest = this.#isLate(oldest, now) && (this.#startedWhileLate += 1) % 4 !== 0;
    return (isNewest ? queue.pop() : queue.shift()) as Task;
  }

  #isLate({ deferredAt = Infinity }: Task, now: number): boolean {
    return now - deferredAt > this.#maxWait;
  }
}
