import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '../../domain/errors.js';
import { PATIENCE, PAUSE, isBusy, isSqliteError, retryDelay, type LockWait } from './busy.js';

interface Write {
  readonly doing: string;
  readonly signal: AbortSignal | undefined;
  /** Does the work in the transaction. Returns what resolves the call after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
  /** When to stop waiting for another connection's lock, on the clock of `performance.now`. */
  readonly giveUpAt: number;
}

/** A batch of at least this many writes does not wait for another turn. */
const LARGE_BATCH = 32;

/** How long other processes count as writing after a commit, in milliseconds. */
const RECENT = 100;

/** A batch holds no more: some 25 ms, after which other events get their turn. */
const LARGEST_BATCH = 1000;

/**
 * Batches queued writes into one transaction: a commit that reaches the disk costs far more than a write. A batch holds
 * up to 1,000 writes of one event-loop turn, or of two if they are few. An aborted write leaves the queue, until its
 * transaction begins. From there to the commit everything is one synchronous step.
 */
export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #beforeEach: () => void;
  readonly #onLongWait: LockWait;
  /** An array: in a Set, V8 may keep what was deleted until the next full garbage collection. */
  #queue: Write[] = [];
  // Prepared: to parse them takes a fifth of the time of a lone write.
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  /** Its value changes with the commits of other connections. Inside a transaction it takes no lock of its own. */
  readonly #version: StatementSync;
  #latestVersion: unknown;
  /** How many writes the latest transaction held. One that is alone after a lone one waits for no others. */
  #latestSize = 0;
  #othersWroteAt = -Infinity;
  #flushing: Promise<void> | undefined;
  #failing = false;

  /** @param beforeEach called before each transaction; when it throws, the whole batch rejects */
  constructor(database: DatabaseSync, beforeEach: () => void, onLongWait: LockWait) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#version = database.prepare('PRAGMA data_version');
    // `run` returns the last id, which may be greater than a number can hold.
    for (const statement of [this.#begin, this.#commit]) statement.setReadBigInts(true);
    this.#latestVersion = this.#version.get()?.['data_version'];
    this.#beforeEach = beforeEach;
    this.#onLongWait = onLongWait;
  }

  /** Whether the latest transaction did not commit. */
  get failing(): boolean {
    return this.#failing;
  }

  /**
   * Resolves to the result of `work` after the commit. `work` may run more than once. When it throws, only this call
   * rejects and only its changes are undone. When the commit fails, the whole batch rejects and nothing is stored.
   */
  submit<Result>(doing: string, signal: AbortSignal | undefined, work: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = () => {
      const result = work();
      return () => resolve(result);
    };
    this.#queue.push({ doing, signal, run, reject, giveUpAt: performance.now() + PATIENCE });
    this.#flushing ??= this.#flush();
    return promise;
  }

  /** Resolves when every queued write is settled. None waits for a lock longer than five seconds. */
  async drain(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    // While other processes write, too, each leaves the lock to them before its next commit.
    if (performance.now() - this.#othersWroteAt < RECENT) await delay(PAUSE);
    else await nextTurn();
    // Of requests that arrived together, others may still be read.
    const isLone = this.#queue.length === 1 && this.#latestSize === 1;
    if (!isLone && this.#queue.length < LARGE_BATCH) await nextTurn();
    for (let tries = 0; ; tries += 1) {
      try {
        while (!this.#commitBatch()) {
          this.#rollback();
          await nextTurn();
        }
      } catch (error) {
        this.#rollback();
        const [busy, now] = [isBusy(error), performance.now()];
        this.#refuse((write) => (busy && now < write.giveUpAt ? undefined : unavailable(write, error)));
      }
      if (this.#queue.length === 0) break;
      await delay(retryDelay(tries, this.#onLongWait));
    }
    this.#flushing = undefined;
  }

  /** Returns `false` while there are others to commit, as after a write that failed by itself and was refused. */
  #commitBatch(): boolean {
    this.#refuse(({ signal }) => (signal?.aborted ? signal.reason : undefined));
    if (this.#queue.length === 0) return true;
    this.#failing = true; // until the commit: what happens in between is one synchronous step
    this.#beforeEach();
    this.#begin.run();
    const version = this.#version.get()?.['data_version'];
    const settle: (() => void)[] = [];
    for (const write of this.#queue.slice(0, LARGEST_BATCH)) {
      try {
        settle.push(write.run());
      } catch (error) {
        this.#queue = this.#queue.filter((other) => other !== write);
        write.reject(isSqliteError(error) ? unavailable(write, error) : error);
        return false;
      }
    }
    this.#commit.run();
    this.#failing = false;
    if (version !== this.#latestVersion) this.#othersWroteAt = performance.now();
    this.#latestVersion = version;
    this.#latestSize = settle.length;
    this.#queue = this.#queue.slice(settle.length);
    for (const resolve of settle) resolve();
    return this.#queue.length === 0;
  }

  #rollback(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch {
      // The failure before this one is reported. If the transaction is still open, the next one fails to begin, and
      // leads here again.
    }
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
