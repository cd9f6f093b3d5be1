import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { AnimalStoreError, UnavailableError } from '../../domain/errors.js';
import { PAUSE, retryWhileBusy } from './busy.js';
import { isSqliteError } from './sqlite-errors.js';

interface Write {
  readonly doing: string;
  readonly signal: AbortSignal | undefined;
  /** Done in the open transaction. */
  work(): unknown;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/** Settles the call of a write that was run. Called after the commit. */
type Settle = () => void;

/** What became of the writes of a batch: all were done, or one failed and none must stay. */
type Outcome =
  { readonly settlers: readonly Settle[] } | { readonly failed: Write; readonly cause: unknown };

/** The most writes of a batch: some 25 ms, after which other events get their turn. */
const LARGEST_BATCH = 1000;

/** How long other processes count as writing after a commit, in milliseconds. */
const RECENT = 100;

/** How long queued writes may take once the store closes, in milliseconds: it closes within five seconds. */
const DRAIN_TIMEOUT = 4000;

/** Whether `error` refuses a call before anything was changed. `UnavailableError` does not: it may follow a change. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AnimalStoreError && !(error instanceof UnavailableError);

/** Does the work of a write. Throws if it failed and must be undone. */
function run(write: Write): Settle {
  try {
    const result = write.work();
    return () => write.resolve(result);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return () => write.reject(error);
  }
}

/** Does the work of these writes, up to the first that fails. */
function runAll(batch: readonly Write[]): Outcome {
  const settlers: Settle[] = [];
  for (const write of batch) {
    try {
      settlers.push(run(write));
    } catch (cause) {
      return { failed: write, cause };
    }
  }
  return { settlers };
}

/**
 * Batches queued writes into one transaction: a commit that reaches the disk costs far more than a write. A batch holds
 * up to 1,000 writes of two turns of the event loop. An aborted write leaves the queue, until its transaction begins.
 * From there to the commit everything is one synchronous step.
 */
export class GroupCommit {
  /** Whether the latest transaction did not commit. */
  failing = false;
  readonly #database: DatabaseSync;
  readonly #beforeEach: () => void;
  readonly #onLongWait: () => void;
  /** Aborted when the writes that are queued at close have waited too long. */
  readonly #givenUp = new AbortController();
  /** An array: in a Set, V8 may keep what was deleted until the next full garbage collection. */
  #queue: Write[] = [];
  // Prepared once: parsing them would take a fifth of the time of a lone write.
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #version: StatementSync;
  #latestVersion: unknown;
  #othersWroteAt = -Infinity;
  #flushing: Promise<void> | undefined;

  /** @param beforeEach called before each transaction; when it throws, the whole batch rejects */
  constructor(database: DatabaseSync, beforeEach: () => void, onLongWait: () => void) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#version = database.prepare('PRAGMA data_version');
    this.#latestVersion = this.#readVersion();
    this.#beforeEach = beforeEach;
    this.#onLongWait = onLongWait;
  }

  /**
   * Resolves to the result of `work` after the commit. `work` may run more than once. When it throws, only this call
   * rejects and only its changes are undone. It may refuse the call with an error of the domain, but only before it has
   * changed anything: nothing is undone then. When the commit fails, or another connection keeps the lock for five
   * seconds, all that is queued rejects and nothing of it is stored.
   */
  submit<Result>(
    doing: string,
    signal: AbortSignal | undefined,
    work: () => Result,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#queue.push({ doing, signal, work, resolve, reject });
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
    const waiting = { onLongWait: this.#onLongWait, signal: this.#givenUp.signal };
    while (this.#queue.length > 0) {
      await this.#gather();
      try {
        await retryWhileBusy('writing to the store', waiting, () => this.#writeBatch());
      } catch (error) {
        for (const write of this.#queue.splice(0)) write.reject(error);
      }
    }
    this.#flushing = undefined;
  }

  /** Waits for the two turns of the event loop whose writes share a batch. */
  async #gather(): Promise<void> {
    // While several processes write, each pauses before its next commit, so that others get the lock.
    const othersWrite = performance.now() - this.#othersWroteAt < RECENT;
    await (othersWrite ? delay(PAUSE) : nextTurn());
    await nextTurn(); // of requests that arrived together, some may still be read
  }

  /** Commits the first writes of the queue together, and settles their calls. If one fails, rejects only that one. */
  #writeBatch(): void {
    this.#removeAborted();
    const batch = this.#queue.slice(0, LARGEST_BATCH);
    if (batch.length === 0) return;
    this.failing = true; // until the commit
    this.#beforeEach();
    const outcome = this.#commitAll(batch);
    if ('failed' in outcome) {
      this.#rejectAlone(outcome.failed, outcome.cause);
      return;
    }
    this.failing = false;
    this.#queue = this.#queue.slice(batch.length);
    for (const settle of outcome.settlers) settle();
  }

  /** Commits these writes in one transaction. If one of them fails, undoes all. */
  #commitAll(batch: readonly Write[]): Outcome {
    try {
      // Not `run`: it also returns the last id, and throws if that is beyond 2^53.
      this.#begin.get();
      const version = this.#readVersion();
      const outcome = runAll(batch);
      if ('failed' in outcome) return outcome;
      this.#commit.get();
      if (version !== this.#latestVersion) this.#othersWroteAt = performance.now();
      this.#latestVersion = version;
      return outcome;
    } finally {
      // A transaction is still open if a write or the commit failed, or if an earlier ROLLBACK did.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }

  /** The other writes stay queued, for the next batch. */
  #rejectAlone(write: Write, cause: unknown): void {
    this.#queue = this.#queue.filter((other) => other !== write);
    write.reject(isSqliteError(cause) ? new UnavailableError(write.doing, { cause }) : cause);
  }

  #removeAborted(): void {
    for (const write of this.#queue) if (write.signal?.aborted) write.reject(write.signal.reason);
    this.#queue = this.#queue.filter(({ signal }) => !signal?.aborted);
  }

  /** A number that changes when another connection has committed. In a transaction, reading it takes no other lock. */
  #readVersion(): unknown {
    return this.#version.get()?.['data_version'];
  }
}
