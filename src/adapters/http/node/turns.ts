/** How many connections may parse in one turn of the event loop. */
const PER_TURN = 32;

/**
 * Shares the event loop among connections with input: in each of its turns only so many parse, the others wait in the
 * order in which they came. So a flood delays the requests of others, timers and health checks by a few milliseconds.
 */
export class Turns {
  readonly #waiting = new Set<() => void>();
  #left = PER_TURN;
  #isScheduled = false;

  /** Calls `parse` at once if this turn has room left, else in a later one. The same function waits once. */
  run(parse: () => void): void {
    this.#schedule();
    if (this.#left === 0 || this.#waiting.size > 0) return void this.#waiting.add(parse);
    this.#left -= 1;
    parse();
  }

  /** Calls `parse` in a later turn. */
  defer(parse: () => void): void {
    this.#schedule();
    this.#waiting.add(parse);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#begin);
  }

  readonly #begin = (): void => {
    this.#isScheduled = false;
    this.#left = PER_TURN;
    for (const parse of this.#waiting) {
      if (this.#left === 0) break;
      this.#left -= 1;
      this.#waiting.delete(parse);
      parse();
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
