import { BusyError } from './error-responses.js';

// One of each: the stack of every one would cost more than the rest of the response.
const TOO_MANY = new BusyError('too many requests at once');
const TOO_MANY_OF_KEY = new BusyError('too many requests of this API key at once');

/** Shares a number of places among callers. None gets more than three quarters: some are left for the others. */
class Places {
  readonly #most: number;
  readonly #mostEach: number;
  readonly #byCaller = new Map<string, number>();
  #taken = 0;

  get taken(): number {
    return this.#taken;
  }

  constructor(most: number) {
    this.#most = most;
    this.#mostEach = Math.ceil(most * 0.75);
  }

  /** @param caller the id of an API key; empty for a request without one, which has no share of its own */
  take(caller: string): void {
    const held = this.#byCaller.get(caller) ?? 0;
    if (this.#taken >= this.#most) throw TOO_MANY;
    if (caller !== '' && held >= this.#mostEach) {
      throw TOO_MANY_OF_KEY;
    }
    this.#taken += 1;
    this.#byCaller.set(caller, held + 1);
  }

  give(caller: string): void {
    this.#taken -= 1;
    const held = (this.#byCaller.get(caller) ?? 1) - 1;
    if (held > 0) this.#byCaller.set(caller, held);
    else this.#byCaller.delete(caller);
  }
}

/** How many requests are worked on at the same time, and how many bodies are read. */
export class Capacity {
  readonly working: Places;
  readonly reading: Places;

  /** @param most of either */
  constructor(most: number) {
    this.working = new Places(most);
    this.reading = new Places(most);
  }
}

/** The place of one request. Taking it throws a `BusyError` if there is none left; then none is held. */
export class Place {
  readonly #capacity: Capacity;
  #held: Places | undefined;
  #caller = '';
  #hasLeft = false;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  /** Takes a place to work in. */
  enter(): void {
    this.#moveTo(this.#capacity.working);
  }

  /** Makes the place count for a caller. */
  passTo(caller: string): void {
    this.#moveTo(undefined);
    this.#caller = caller;
    this.enter();
  }

  /** Reads a body, which may come as slowly as its client likes, in another place than those to work in. */
  async whileReading<T>(read: () => Promise<T>): Promise<T> {
    this.#moveTo(this.#capacity.reading);
    const body = await read();
    this.enter();
    return body;
  }

  /** Waits for a turn without a place. Returns what the turn says. */
  async whileWaiting<T>(turn: Promise<T>): Promise<T> {
    this.#moveTo(undefined);
    const result = await turn;
    this.enter();
    return result;
  }

  /** Gives the place back, for good. */
  leave(): void {
    this.#moveTo(undefined);
    this.#hasLeft = true;
  }

  #moveTo(places: Places | undefined): void {
    this.#held?.give(this.#caller);
    this.#held = undefined;
    if (places === undefined || this.#hasLeft) return;
    places.take(this.#caller);
    this.#held = places;
  }
}
