import type { Clock } from '../src/application/ports/clock.js';

/** A clock that stands still until a test advances it. */
export class SettableClock implements Clock {
  #time = Date.now();

  now(): Date {
    return new Date(this.#time);
  }

  advance(milliseconds: number): void {
    this.#time += milliseconds;
  }

  /** The instant this many milliseconds from now. */
  in(milliseconds: number): Date {
    return new Date(this.#time + milliseconds);
  }
}
