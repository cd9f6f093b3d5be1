import type {
  DeprecatedCallBatch,
  DeprecatedCallRepository,
  DeprecatedCalls,
} from '../../../src/application/ports/deprecated-call-repository.js';
import type { PetRepositoryCapabilities } from '../../../src/application/ports/pet-repository.js';
import type { ContractCase, Subject } from '../contract.js';
import { durable, shared, type MoreHandles } from '../handles.js';

/** An empty store of counts to hold to the contract. */
export interface DeprecatedCallRepositorySubject extends Subject, MoreHandles<DeprecatedCallRepository> {
  /** The repository itself. */
  readonly counts: DeprecatedCallRepository;
  /** What the store declares itself; when left out, durable with `reopen` and shared with `another`. */
  readonly capabilities?: PetRepositoryCapabilities | undefined;
}

export type DeprecatedCallRepositoryCase = ContractCase<DeprecatedCallRepositorySubject>;

export const DURABLE = durable<DeprecatedCallRepositorySubject>(
  ({ capabilities, reopen }) => capabilities?.durable ?? reopen !== undefined,
);
export const SHARED = shared<DeprecatedCallRepositorySubject>(
  ({ capabilities, another }) => capabilities?.shared ?? another !== undefined,
);

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
