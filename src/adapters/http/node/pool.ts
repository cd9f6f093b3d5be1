/** The part of a pool that one caller may hold. */
const SHARE = 0.75;

/** Places for requests, and how many of them each caller holds. */
export class Pool {
  readonly #size: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** The number of places taken. May exceed the size: a caller that holds none always gets one. */
  get used(): number {
    return this.#used;
  }

  /** Whether a caller gets no further place: it holds its whole share, or it holds any and none is left. */
  refuses(caller: string): boolean {
    const held = this.#held.get(caller) ?? 0;
    if (held === 0) return false;
    const share = Math.ceil(this.#size * SHARE);
    return held >= share || this.#used >= this.#size;
  }

  /** Takes a place, without a check. */
  take(caller: string): void {
    this.#used += 1;
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + 1);
  }

  giveBack(caller: string): void {
    this.#used -= 1;
    const left = (this.#held.get(caller) ?? 0) - 1;
    if (left > 0) this.#held.set(caller, left);
    else this.#held.delete(caller);
  }
}
