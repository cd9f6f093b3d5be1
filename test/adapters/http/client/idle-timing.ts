import type { Timing } from '../../../../src/adapters/http/client/timing.js';

/** More turns of the event loop than promises and streams without input or output ever take. */
const IDLE = 20;

interface Timer {
  readonly due: number;
  readonly milliseconds: number;
  readonly callback: () => void;
}

/** Time that passes by itself, to the next timer, as soon as nothing else is left to do. */
export class IdleTiming implements Timing {
  /** How long the timers were that came to their end. */
  readonly passed: number[] = [];
  /** What chance says. */
  chance = 0.5;
  #elapsed = 0;
  readonly #timers = new Set<Timer>();
  #turns: NodeJS.Immediate | undefined;

  /** How many timers are running. */
  get running(): number {
    return this.#timers.size;
  }

  now(): Date {
    return new Date(Date.UTC(2030, 0, 1) + this.#elapsed);
  }

  elapsed(): number {
    return this.#elapsed;
  }

  random(): number {
    return this.chance;
  }

  schedule(milliseconds: number, callback: () => void): () => void {
    const timer = { due: this.#elapsed + milliseconds, milliseconds, callback };
    this.#timers.add(timer);
    this.#whenIdle(IDLE);
    return () => void this.#timers.delete(timer);
  }

  #whenIdle(turns: number): void {
    clearImmediate(this.#turns);
    this.#turns = setImmediate(() => (turns > 0 ? this.#whenIdle(turns - 1) : this.#advance()));
  }

  #advance(): void {
    const [next] = [...this.#timers].sort((one, other) => one.due - other.due);
    if (next === undefined) return;
    this.#timers.delete(next);
    this.#elapsed = next.due;
    this.passed.push(next.milliseconds);
    next.callback();
    this.#whenIdle(IDLE);
  }
}
