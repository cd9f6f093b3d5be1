import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '../../domain/errors.js';
import { PAUSE, isSqliteError, retryWhileBusy } from './busy.js';

interface Write {
  readonly doing: string;
  readonly signal: AbortSignal | undefined;
  /** Does the work in the transaction. Returns what resolves the call after the commit. */
  readonly run: () => () => void;
  readonly reject: (reason: unknown) => void;
}

/** A batch of at least this many writes does not wait for another turn. */
const LARGE_BATCH = 32;

/** How long other processes count as writing after a commit, in milliseconds. */
const RECENT = 100;

/** How long queued writes may take once the store closes, in milliseconds: it closes within five seconds. */
const DRAIN_TIMEOUT = 4000;

/** A batch holds no more: some 25 ms, after which other events get their turn. */
const LARGEST_BATCH = 1000;

/**
 * Batches queued writes into one transaction: a commit that reaches the disk costs far more than a write. A batch holds
 * up to 1,000 writes of one event-loop turn, or of two if they are few. An aborted write leaves the queue, until its
 * transaction begins. From there to the commit everything is one synchronous step.
 */
export class GroupCommit {
  /** Whether the latest transaction did not commit. */
  failing = false;
  readonly #database: DatabaseSync;
  readonly #beforeEach: () => void;
  readonly #waiting: { readonly onLongWait: () => void; readonly signal: AbortSignal };
  /** Aborted when the writes that are queued at close have waited too long. */
  readonly #givenUp = new AbortController();
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

  /** @param beforeEach called before each transaction; when it throws, the whole batch rejects */
  constructor(database: DatabaseSync, beforeEach: () => void, onLongWait: () => void) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#version = database.prepare('PRAGMA data_version');
    this.#latestVersion = this.#version.get()?.['data_version'];
    this.#beforeEach = beforeEach;
    this.#waiting = { onLongWait, signal: this.#givenUp.signal };
  }

  /**
   * Resolves to the result of `work` after the commit. `work` may run more than once. When it throws, only this call
   * rejects and only its changes are undone. When the commit fails, or another connection keeps the lock for five
   * seconds, all that is queued rejects and nothing of it is stored.
   */
  submit<Result>(
    doing: string,
    signal: AbortSignal | undefined,
    work: () => Result,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = () => {
      const result = work();
      return () => resolve(result);
    };
    this.#queue.push({ doing, signal, run, reject });
    this.#flushing ??= this.#flush();
    return promise;
  }

  /** Resolves when every queued write is settled. What waits for another's lock after four seconds rejects. */
  async drain(): Promise<void> {
    const late = new UnavailableError('writing to the store before it closes');
    const timer = setTimeout(() => this.#givenUp.abort(late), DRAIN_TIMEOUT);
    await this.#flushing;
    clearTimeout(timer);
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      try {
        await retryWhileBusy('writing to the store', this.#waiting, () => this.#commitBatch());
      } catch (error) {
        for (const { reject } of this.#queue.splice(0)) reject(error);
      }
    }
    this.#flushing = undefined;
  }

  /** Waits for the turns in which the writes of a batch may come. */
  async #gather(): Promise<void> {
    // While other processes write, too, each leaves the lock to them before its next commit.
    if (performance.now() - this.#othersWroteAt < RECENT) await delay(PAUSE);
    else await nextTurn();
    // Of requests that arrived together, others may still be read.
    const isLone = this.#queue.length === 1 && this.#latestSize === 1;
    if (!isLone && this.#queue.length < LARGE_BATCH) await nextTurn();
  }

  /** Commits a batch, or only refuses the write that fails by itself and undoes the others, to run them again. */
  #commitBatch(): void {
    for (const { signal, reject } of this.#queue) if (signal?.aborted) reject(signal.reason);
    this.#queue = this.#queue.filter(({ signal }) => !signal?.aborted);
    if (this.#queue.length === 0) return;
    this.failing = true; // until the commit: what happens in between is one synchronous step
    this.#beforeEach();
    try {
      // `get`: `run` also returns the last id, which may be greater than a number can hold.
      this.#begin.get();
      const version = this.#version.get()?.['data_version'];
      const settle: (() => void)[] = [];
      for (const write of this.#queue.slice(0, LARGEST_BATCH)) {
        try {
          settle.push(write.run());
        } catch (cause) {
          this.#queue = this.#queue.filter((other) => other !== write);
          write.reject(isSqliteError(cause) ? new UnavailableError(write.doing, { cause }) : cause);
          return;
        }
      }
      this.#commit.get();
      this.failing = false;
      if (version !== this.#latestVersion) this.#othersWroteAt = performance.now();
      this.#latestVersion = version;
      this.#latestSize = settle.length;
      this.#queue = this.#queue.slice(settle.length);
      for (const resolve of settle) resolve();
    } finally {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }
}
