import { mock } from 'node:test';

/** More turns of the event loop than promises and streams without input or output ever take. */
const IDLE = 20;

interface Timer {
  readonly due: number;
  readonly milliseconds: number;
  readonly callback: () => void;
}

/** Replaces timers and clocks: time advances to the next timer as soon as nothing else is left to do. */
export class IdleTime {
  static current = new IdleTime();
  /** The lengths of the timers that fired. */
  readonly passed: number[] = [];
  /** What Math.random returns. */
  chance = 0.5;
  elapsed = 0;
  readonly #timers = new Set<Timer>();
  #turns: NodeJS.Immediate | undefined;

  /** The number of timers that have neither fired nor been cleared. */
  get running(): number {
    return this.#timers.size;
  }

  schedule(callback: () => void, milliseconds: number): Timer {
    const timer = { due: this.elapsed + milliseconds, milliseconds, callback };
    this.#timers.add(timer);
    this.#whenIdle(IDLE);
    return timer;
  }

  cancel(timer: Timer): void {
    this.#timers.delete(timer);
  }

  #whenIdle(turns: number): void {
    clearImmediate(this.#turns);
    this.#turns = setImmediate(() => (turns > 0 ? this.#whenIdle(turns - 1) : this.#advance()));
  }

  #advance(): void {
    const [next] = [...this.#timers].sort((one, other) => one.due - other.due);
    if (next === undefined) return;
    this.elapsed = next.due;
    this.#timers.delete(next);
    this.passed.push(next.milliseconds);
    next.callback();
    this.#whenIdle(IDLE);
  }
}

/** Replaces time in each test of the enclosing suite. Every `fakeService` starts a new time. */
export function useIdleTime(): void {
  beforeEach(() => {
    IdleTime.current = new IdleTime();
    mock.method(globalThis, 'setTimeout', (callback: () => void, milliseconds = 0) =>
      IdleTime.current.schedule(callback, milliseconds),
    );
    mock.method(globalThis, 'clearTimeout', (timer: Timer) => IdleTime.current.cancel(timer));
    mock.method(performance, 'now', () => IdleTime.current.elapsed);
    mock.method(Math, 'random', () => IdleTime.current.chance);
  });
  afterEach(() => mock.restoreAll());
}
