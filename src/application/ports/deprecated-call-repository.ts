import type { Call } from '../call.js';

/**
 * Driven port: how often each key called each deprecated operation, by day. Every adapter passes
 * `deprecatedCallRepositoryContract`.
 *
 * What is said of copies, overlapping calls, failure, abort and close in `PetRepository` holds here too.
 * An acknowledged batch is as safe as an added animal, and seen by the next read of every process on the store.
 */
export interface DeprecatedCallRepository {
  /**
   * Adds the counts to those that are kept: the calls are summed, the later last call stays. Simultaneous
   * batches all count, whichever process they are from.
   * When it rejects, any part of the batch may have been added. The same batch, unchanged, may then be given
   * again, also much later: what was added of it is not added twice. A store whose answers can be lost
   * recognises it by its id; for how long, such a store says itself. Once it resolved, it is not given again.
   */
  record(batch: DeprecatedCallBatch, call?: Call): Promise<void>;

  /** The counts of `since` and later, ascending by day, then by operation, then by key, both by code unit. */
  list(query?: DeprecatedCallQuery, call?: Call): Promise<readonly DeprecatedCalls[]>;

  /** Lets go of everything the adapter opened. Safe to call twice. */
  close(): Promise<void>;
}

/** How often one key called one deprecated operation on one day. */
export interface DeprecatedCalls {
  /** The day in UTC: `2026-11-20`. */
  readonly day: string;
  /** As in the interface's description: `getPet`. */
  readonly operationId: string;
  /** Names the key (`Principal.keyId`), never tells it: any text. */
  readonly keyId: string;
  /** 1 or more, a safe integer. */
  readonly calls: number;
  /** When the last of them came, exact to the millisecond. */
  readonly lastAt: Date;
}

/** Counts to be added together, and what tells this batch from all others. */
export interface DeprecatedCallBatch {
  /** Different for every batch, whichever process it is from: a UUID. */
  readonly id: string;
  /** Each for another operation, key or day. */
  readonly counts: readonly DeprecatedCalls[];
}

/** Which counts are wanted. */
export interface DeprecatedCallQuery {
  /** The first day of interest, in UTC: `2026-11-01`. All days when left out. */
  readonly since?: string | undefined;
}

/** The order of a list. */
export const byDayOperationAndKey = (one: DeprecatedCalls, other: DeprecatedCalls): number =>
  byCodeUnit(one.day, other.day) ||
  byCodeUnit(one.operationId, other.operationId) ||
  byCodeUnit(one.keyId, other.keyId);

const byCodeUnit = (one: string, other: string): number => {
  if (one === other) return 0;
  return one < other ? -1 : 1;
};
