import type {
  DeprecatedCallBatch,
  DeprecatedCallRepository,
  DeprecatedCalls,
} from '../../../src/application/ports/deprecated-call-repository.js';
import type { ContractCase, Subject } from '../contract.js';

/** An empty store of counts to hold to the contract. */
export interface DeprecatedCallRepositorySubject extends Subject {
  readonly counts: DeprecatedCallRepository;
  /** Closes `counts` and opens the same store again; left out by a store that ends with its process. */
  readonly reopen?: () => Promise<DeprecatedCallRepository>;
  /** One more handle on the same store, as another process has it; left out where there can be none. */
  readonly another?: () => Promise<DeprecatedCallRepository>;
}

export type DeprecatedCallRepositoryCase = ContractCase<DeprecatedCallRepositorySubject>;

export const unlessReopens = ({ reopen }: DeprecatedCallRepositorySubject): string | undefined =>
  reopen ? undefined : 'the subject declares no `reopen`: the store ends with its process';

export const unlessShared = ({ another }: DeprecatedCallRepositorySubject): string | undefined =>
  another ? undefined : 'the subject declares no `another`: the store has one handle only';

/** One call of getPet by one key; what is not given does not matter to the case. */
export const sampleCounts = (fields: Partial<DeprecatedCalls> = {}): DeprecatedCalls => ({
  day: '2026-11-20',
  operationId: 'getPet',
  keyId: '4fZk02Qa',
  calls: 1,
  lastAt: new Date('2026-11-20T10:00:00.123Z'),
  ...fields,
});

/** The counts after they were added so many times. */
export const added =
  (times: number) =>
  (counted: DeprecatedCalls): DeprecatedCalls => ({ ...counted, calls: counted.calls * times });

/** A batch as a counter makes it: each has an id of its own. */
export const batchOf = (...counts: readonly DeprecatedCalls[]): DeprecatedCallBatch => ({
  id: crypto.randomUUID(),
  counts,
});
