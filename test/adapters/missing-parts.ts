import { storeContracts } from '../contract/store-contracts.js';
import type { StoreSubject } from '../contract/store-subject.js';

/** The optional parts that this subject lacks, without which cases of the store contracts are skipped. */
export function missingParts(subject: StoreSubject): ReadonlySet<string> {
  const needed = storeContracts.flatMap(({ cases }) => cases.flatMap(({ needs = [] }) => needs));
  const missing = needed.filter((part) => part.missing(subject) !== undefined);
  return new Set(missing.map(({ name }) => name));
}
