import { storeContracts } from '../contract/store-contracts.js';
import type { StoreSubject } from '../contract/store-subject.js';

/** Why cases of the store contracts are skipped on this subject: a subject that promises too little skips silently. */
export const skipReasons = (subject: StoreSubject): readonly string[] => [
  ...new Set(
    storeContracts.flatMap(({ cases }) => cases.flatMap(({ unless }) => unless?.(subject) ?? [])),
  ),
];
