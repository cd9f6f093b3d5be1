import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { UnavailableError, isAnimalStoreError } from '../../domain/errors.js';
import { retryWhileBusy } from './retry-while-busy.js';

/** Tells a caller the outcome: not before the commit, because a retry may change it. */
type Settle = () => void;

/** A call that waits for its transaction. */
interface Write {
  /** Does the work of the call. Throws to roll back the group: the call is rejected by then. */
  readonly attempt: () => Settle;
  readonly reject: (error: unknown) => void;
  /** Once it is aborted, the work is skipped: the caller has its rejection already. */
  readonly signal: AbortSignal | undefined;
}

/** The largest number of writes in one transaction: about 25 ms, during which nothing else runs. */
const LARGEST_GROUP = 1000;

/**
 * Commits writes that wait together in one transaction: a commit costs far more than a write, because it waits for the
 * disk.
 * @param beforeWriting called before each transaction; throws to refuse it
 */
export function groupCommit(database: DatabaseSync, beforeWriting: () => void) {
  const waiting: Write[] = [];
  const ended = new AbortController();
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      await nextTurn(); // collects the writes of this turn
      const group = waiting.splice(0, LARGEST_GROUP);
      try {
        const outcomes = await retryWhileBusy(ended.signal, () => commit(group));
        for (const settle of outcomes) settle();
      } catch (error) {
        // Rejects the waiting writes as well: each group would wait for the same lock or disk again.
        for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
      }
    }
    flushing = undefined;
  }

  function commit(group: readonly Write[]): Settle[] {
    beforeWriting();
    try {
      database.exec('BEGIN IMMEDIATE');
      const wanted = group.filter(({ signal }) => !signal?.aborted);
      const outcomes = wanted.map(({ attempt }) => attempt());
      database.exec('COMMIT');
      return outcomes;
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  }

  return {
    /**
     * Resolves to the result of `work` after the commit. `work` runs again when the transaction is retried. An error of
     * the animal store rejects this call alone, and must be thrown before the first change. Any other error rolls back
     * the transaction, and rejects every waiting call.
     */
    submit<Result>(work: () => Result, signal: AbortSignal | undefined): Promise<Result> {
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const attempt = (): Settle => {
        try {
          const result = work();
          return () => resolve(result);
        } catch (error) {
          // The work has changed nothing: only its own call fails.
          if (isAnimalStoreError(error)) return () => reject(error);
          // The work may be half done.
          reject(error);
          throw new UnavailableError('writing together with a call that failed', { cause: error });
        }
      };
      waiting.push({ attempt, reject, signal });
      flushing ??= flush();
      return promise;
    },

    /** Resolves when every write is settled. A write that waits for another process's lock rejects. */
    async end(): Promise<void> {
      ended.abort(new UnavailableError('waiting for a lock while the store closes'));
      await flushing;
    },
  };
}
