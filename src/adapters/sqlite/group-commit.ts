import { UnavailableError } from '../../domain/errors.js';
import { retryDelay } from './busy-retry.js';
import { isBusy, isSqliteError, isStoreFault } from './sqlite-error.js';

/** What a group of writes runs in. `begin` throws a busy error (`isBusy`) while another connection writes. */
export interface Transaction {
  begin(): void;
  commit(): void;
  /** Never throws; does nothing when there is no transaction. */
  rollback(): void;
}

interface Write {
  readonly doing: string;
  readonly signal: AbortSignal | undefined;
  /** Does the work inside the transaction; what it returns resolves the call, once committed. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
  readonly settled: Promise<unknown>;
  /** When to stop waiting for another's lock, on the clock of `performance.now`. */
  giveUpAt: number;
}

/**
 * Lets all writes of one event-loop turn share a commit: bringing it to the disk costs far more than the
 * writes. A write stays in the queue, and can be withdrawn by its signal, until the transaction has begun;
 * from there to the commit all is one synchronous step, which nothing in this process comes between.
 */
export class GroupCommit {
  readonly #transaction: Transaction;
  readonly #busyTimeout: number;
  readonly #queue = new Set<Write>();
  #scheduled = false;
  #tries = 0;

  /** @param busyTimeout how long a write without a signal waits for another's lock, in milliseconds. */
  constructor(transaction: Transaction, busyTimeout: number) {
    this.#transaction = transaction;
    this.#busyTimeout = busyTimeout;
  }

  /**
   * Resolves to what `work` returned, after the commit. `work` may run more than once. What it throws
   * rejects this call alone and undoes only its own changes, unless it is a failure of the store: that
   * fails the whole group, and none of it is kept.
   */
  submit<Result>(doing: string, signal: AbortSignal | undefined, work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.add({
      doing,
      signal,
      run: () => {
        const result = work();
        return () => resolve(result);
      },
      reject,
      settled: promise,
      giveUpAt: signal === undefined ? performance.now() + this.#busyTimeout : Infinity,
    });
    this.#schedule();
    return promise;
  }

  /** Resolves when everything that is queued now is settled, after little more than `busyTimeout` at most. */
  async drain(): Promise<void> {
    const latest = performance.now() + this.#busyTimeout;
    for (const write of this.#queue) write.giveUpAt = Math.min(write.giveUpAt, latest);
    await Promise.allSettled([...this.#queue].map(({ settled }) => settled));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    for (const write of this.#queue) {
      if (write.signal?.aborted) this.#refuse(write, write.signal.reason);
    }
    try {
      this.#commitQueue();
      this.#tries = 0;
    } catch (error) {
      this.#transaction.rollback();
      if (isBusy(error)) this.#waitForLock(error);
      else for (const write of this.#queue) this.#refuse(write, unavailable(write, error));
    }
  }

  #commitQueue(): void {
    while (this.#queue.size > 0) {
      this.#transaction.begin();
      const settle = this.#runQueue();
      if (settle !== undefined) {
        this.#transaction.commit();
        this.#queue.clear();
        for (const resolve of settle) resolve();
        return;
      }
      this.#transaction.rollback();
    }
  }

  /** `undefined` when a write had to be refused on its own account, and what it did has to be undone. */
  #runQueue(): (() => void)[] | undefined {
    const settle: (() => void)[] = [];
    for (const write of this.#queue) {
      try {
        settle.push(write.run());
      } catch (error) {
        if (isStoreFault(error)) throw error;
        this.#refuse(write, isSqliteError(error) ? unavailable(write, error) : error);
        return undefined;
      }
    }
    return settle;
  }

  #waitForLock(error: unknown): void {
    const now = performance.now();
    for (const write of this.#queue) {
      if (now >= write.giveUpAt) this.#refuse(write, unavailable(write, error));
    }
    if (this.#queue.size === 0) return;
    this.#scheduled = true;
    setTimeout(() => this.#flush(), retryDelay(this.#tries));
    this.#tries += 1;
  }

  #refuse(write: Write, reason: unknown): void {
    this.#queue.delete(write);
    write.reject(reason);
  }
}

const unavailable = ({ doing }: Write, cause: unknown): UnavailableError =>
  new UnavailableError(doing, { cause });
