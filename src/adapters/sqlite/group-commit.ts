import type { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '../../domain/errors.js';
import { isBusy, isSqliteError, retryDelay, type LockWait } from './busy.js';

interface Write {
  readonly doing: string;
  readonly signal: AbortSignal | undefined;
  /** Does the work in the transaction. Returns what resolves the call after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
  readonly settled: Promise<unknown>;
  /** When to stop waiting for another connection's lock, on the clock of `performance.now`. */
  readonly giveUpAt: number;
}

/** A group of so many writes does not wait for more. */
const LARGE_GROUP = 32;

/**
 * Commits all writes of one event-loop turn together, or of two: a commit that reaches the disk costs far more than
 * a write. An aborted write leaves the queue, until its transaction begins. From there to the commit everything is one
 * synchronous step.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #beforeEach: () => void;
  readonly #wait: LockWait;
  readonly #onCommit: (writes: number) => void;
  /** No set: V8 may keep what has left a set in memory until the next full garbage collection. */
  #queue: Write[] = [];
  #scheduled = false;
  #tries = 0;
  #failing = false;

  /** @param beforeEach called before each transaction; when it throws, the whole group rejects */
  constructor(
    database: DatabaseSync,
    beforeEach: () => void,
    wait: LockWait,
    onCommit: (writes: number) => void = () => {},
  ) {
    this.#onCommit = onCommit;
    this.#database = database;
    this.#beforeEach = beforeEach;
    this.#wait = wait;
  }

  /** Whether the latest transaction did not commit. */
  get failing(): boolean {
    return this.#failing;
  }

  /**
   * Resolves to the result of `work` after the commit. `work` may run more than once. When it throws, only this call
   * rejects and only its changes are undone. When the commit fails, the whole group rejects and nothing is stored.
   */
  submit<Result>(doing: string, signal: AbortSignal | undefined, work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = () => {
      const result = work();
      return () => resolve(result);
    };
    const giveUpAt = performance.now() + this.#wait.busyTimeout;
    this.#queue.push({ doing, signal, run, reject, settled: promise, giveUpAt });
    if (!this.#scheduled) {
      setImmediate(() => this.#flushSoon());
      this.#scheduled = true;
      this.#tries = 0;
    }
    return promise;
  }

  /** Resolves when every queued write is settled. None waits longer than its `busyTimeout` for a lock. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#queue.map(({ settled }) => settled));
  }

  /** A small group waits one more turn: requests that came with its own may still be read. */
  #flushSoon(): void {
    if (this.#queue.length < LARGE_GROUP) setImmediate(() => this.#flush());
    else this.#flush();
  }

  #flush(): void {
    this.#scheduled = false;
    this.#refuse(({ signal }) => (signal?.aborted ? signal.reason : undefined));
    try {
      while (this.#queue.length > 0 && !this.#commitQueue()) this.#rollback();
    } catch (error) {
      this.#rollback();
      if (isBusy(error)) this.#waitForLock(error);
      else this.#refuse((write) => unavailable(write, error));
    }
  }

  /** Returns `false` after refusing a write that failed by itself: the others have to run again without it. */
  #commitQueue(): boolean {
    this.#failing = true; // until the commit: what happens in between is one synchronous step
    this.#beforeEach();
    this.#database.exec('BEGIN IMMEDIATE');
    const settle: (() => void)[] = [];
    for (const write of this.#queue) {
      try {
        settle.push(write.run());
      } catch (error) {
        this.#queue = this.#queue.filter((other) => other !== write);
        write.reject(isSqliteError(error) ? unavailable(write, error) : error);
        return false;
      }
    }
    this.#database.exec('COMMIT');
    this.#failing = false;
    this.#queue = [];
    for (const resolve of settle) resolve();
    this.#onCommit(settle.length);
    return true;
  }

  #rollback(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // The failure before this one is reported. If the transaction is still open, the next one fails to begin, and
      // leads here again.
    }
  }

  #waitForLock(error: unknown): void {
    const now = performance.now();
    this.#refuse((write) => (now >= write.giveUpAt ? unavailable(write, error) : undefined));
    if (this.#queue.length === 0) return;
    this.#scheduled = true;
    setTimeout(() => this.#flush(), retryDelay(this.#tries, this.#wait));
    this.#tries += 1;
  }

  /** Rejects the writes that there is a reason for, and keeps the others. */
  #refuse(reasonFor: (write: Write) => unknown): void {
    const kept: Write[] = [];
    for (const write of this.#queue) {
      const reason = reasonFor(write);
      if (reason === undefined) kept.push(write);
      else write.reject(reason);
    }
    this.#queue = kept;
  }
}

const unavailable = ({ doing }: Write, cause: unknown): UnavailableError =>
  cause instanceof UnavailableError ? cause : new UnavailableError(doing, { cause });
