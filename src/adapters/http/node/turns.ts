/** Something that waits for its turn. */
export interface Waiting {
  /** Who waits: callers take turns. */
  readonly caller: string;
  /** Whether it waits. Only `Turns` changes it. */
  isDeferred: boolean;
  /** Whether it need not wait any more: it is then left out. */
  readonly isGone: boolean;
  /** Starts it, or refuses it if it waited too long. Returns whether there is still something to do. */
  start(isLate: boolean): boolean;
}

/** Options of `Turns`. */
export interface TurnsOptions {
  /** How long something may wait before it is late, in milliseconds. Default: nothing is ever late. */
  readonly maxWait?: number;
  /**
   * Whether to start together what comes together: after a turn that started several, whatever comes waits for the next
   * turn. Many requests that take each step together cost less than one after the other.
   */
  readonly gathers?: boolean;
}

interface Deferred {
  readonly waiting: Waiting;
  readonly since: number;
}

/** In the next turn of the event loop. Only Node.js and its like have the better one. */
const soon: (run: () => void) => unknown = globalThis['setImmediate'] ?? ((run) => setTimeout(run));

/** What it costs to refuse something. */
const REFUSED = 1 / 2;

/** While a caller's oldest is late, one in so many that are taken is the oldest; the others are the newest. */
const OLDEST_OF = 4;

/**
 * Shares the event loop. In each of its turns only so much is started; the rest waits. Callers take turns, however much
 * each waits for. So neither a flood nor a greedy caller delays the others, timers and health checks by more than a few
 * milliseconds.
 *
 * What one caller waits for keeps its order until the oldest is late. Then more comes than can be done, and in order
 * everything would be done too late: now the newest, whose client still waits, comes first, and the oldest is refused
 * now and then (adaptive LIFO).
 */
export class Turns {
  readonly #perTurn: number;
  readonly #maxWait: number;
  readonly #gathers: boolean;
  readonly #callers = new Map<string, Deferred[]>();
  #left: number;
  #usual = 1;
  #takenWhileLate = 0;
  #isScheduled = false;
  #hasAccepted = false;
  /** When the last turn began, if the next one came right after it. */
  #began = Infinity;
  #acceptingUntil: number | undefined;

  /** @param perTurn how many are started in one turn of the event loop, if each costs 1 */
  constructor(perTurn: number, { maxWait = Infinity, gathers = false }: TurnsOptions = {}) {
    this.#perTurn = perTurn;
    this.#maxWait = maxWait;
    this.#gathers = gathers;
    this.#left = perTurn;
  }

  /** Call it for every accepted connection. While more keep coming, half of the time goes to accepting them. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /**
   * Whether one more may start at once. Under light load nothing runs at the end of a turn: the room is renewed only
   * when one finds none and waits for the next turn.
   */
  hasRoom(): boolean {
    if (this.#left < 1 || this.#callers.size > 0) return false;
    this.#left -= this.#usual;
    return true;
  }

  /** Tells what one that was started turned out to cost: 1 or more. What is started next is taken to cost the like. */
  charge(cost: number): void {
    this.#usual += (cost - this.#usual) / 8;
  }

  /** Starts it in a later turn. It waits once, however often this is called. */
  defer(waiting: Waiting): void {
    if (waiting.isDeferred) return;
    waiting.isDeferred = true;
    const deferred = { waiting, since: performance.now() };
    const others = this.#callers.get(waiting.caller);
    if (others) others.push(deferred);
    else this.#callers.set(waiting.caller, [deferred]);
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
    let taken = 0;
    for (const [caller, ofCaller] of this.#callers) {
      if (this.#left < 1) break;
      taken += 1;
      const next = this.#take(ofCaller, now);
      this.#callers.delete(caller);
      // Behind the other callers, who are next.
      if (ofCaller.length > 0) this.#callers.set(caller, ofCaller);
      if (next) this.#left -= next.waiting.start(this.#isLate(next, now)) ? this.#usual : REFUSED;
    }
    if (this.#gathers && taken > 1) this.#left = 0;
    this.#began = this.#callers.size > 0 ? now : Infinity;
    if (this.#callers.size > 0) this.#schedule();
  };

  /** Takes what comes next of what one caller waits for. */
  #take(ofCaller: Deferred[], now: number): Deferred | undefined {
    while (ofCaller[0]?.waiting.isGone) this.#drop(ofCaller.shift());
    const [oldest] = ofCaller;
    const isNewest = oldest && this.#isLate(oldest, now) && (this.#takenWhileLate += 1) % OLDEST_OF !== 0;
    if (!isNewest) return this.#drop(ofCaller.shift());
    while (ofCaller.at(-1)?.waiting.isGone) this.#drop(ofCaller.pop());
    return this.#drop(ofCaller.pop());
  }

  #drop(deferred: Deferred | undefined): Deferred | undefined {
    if (deferred) deferred.waiting.isDeferred = false;
    return deferred;
  }

  #isLate({ since }: Deferred, now: number): boolean {
    return now - since > this.#maxWait;
  }
}
