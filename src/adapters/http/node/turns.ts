/** How many connections parse in one turn of the event loop. */
const PER_TURN = 8;

/** A connection, as far as turns go. */
interface Waiting {
  /** Who sent the last request that was authenticated. Empty before. */
  readonly caller: string;
  /** Since when input waits for its turn. Kept by `Turns`. */
  waitingSince: number | undefined;
  /** Called when it is this connection's turn. `waited` says how long its input waited for that, in milliseconds. */
  parse(waited: number): void;
}

/**
 * Shares the event loop among connections with input. In each of its turns only so many parse; the others wait. Callers
 * take turns, however many connections each has, and the connections of one caller keep their order. So neither a
 * flood nor a greedy key delays the requests of another, timers and health checks by more than a few milliseconds.
 */
export class Turns {
  readonly #waiting = new Map<string, Set<Waiting>>();
  #newest: Waiting | undefined;
  #left = PER_TURN;
  #isScheduled = false;
  #hasAccepted = false;

  /**
   * Called for each new connection. Node accepts one a turn, so turns are short while there are more: else clients
   * would have given up before they are accepted.
   */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /**
   * Lets the connection parse at once if this turn has room left, else in a later one. A turn that had room to the end
   * is not seen to end, so that light load costs nothing: one connection in so many waits for the next.
   */
  run(connection: Waiting): void {
    if (this.#left === 0 || this.#waiting.size > 0) return this.defer(connection);
    this.#left -= 1;
    connection.parse(0);
  }

  /** Lets the connection parse in a later turn. It waits once, however often this is called. */
  defer(connection: Waiting): void {
    this.#schedule();
    const { caller } = connection;
    const others = this.#waiting.get(caller);
    if (others) others.add(connection);
    else this.#waiting.set(caller, new Set([connection]));
    if (caller === '') this.#newest = connection;
    connection.waitingSince ??= performance.now();
  }

  /** Called when the connection is closed. */
  forget(connection: Waiting): void {
    this.#waiting.get(connection.caller)?.delete(connection);
    if (this.#newest === connection) this.#newest = undefined;
  }

  /** In their order, but the newest of those without a key before: a flood of them must not delay a health check. */
  #firstOf(connections: ReadonlySet<Waiting>): Waiting | undefined {
    const newest = this.#newest;
    if (newest === undefined || !connections.has(newest)) return connections.values().next().value;
    this.#newest = undefined;
    return newest;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#begin);
  }

  readonly #begin = (): void => {
    this.#isScheduled = false;
    this.#left = this.#hasAccepted ? 1 : PER_TURN;
    this.#hasAccepted = false;
    const now = performance.now();
    for (const [caller, connections] of this.#waiting) {
      if (this.#left === 0) break;
      this.#left -= 1;
      this.#waiting.delete(caller);
      const first = this.#firstOf(connections);
      if (first === undefined) continue;
      connections.delete(first);
      // Behind the other callers, who are next.
      if (connections.size > 0) this.#waiting.set(caller, connections);
      const waited = now - (first.waitingSince ?? now);
      first.waitingSince = undefined;
      first.parse(waited);
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
