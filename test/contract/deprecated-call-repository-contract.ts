import type { Contract } from './contract.js';
import { addingCases } from './deprecated-call-repository/adding.js';
import { endingCases } from './deprecated-call-repository/ending.js';
import { keepingCases } from './deprecated-call-repository/keeping.js';
import { listingCases } from './deprecated-call-repository/listing.js';
import { outlivingCases } from './deprecated-call-repository/outliving.js';
import { repeatingCases } from './deprecated-call-repository/repeating.js';
import type { DeprecatedCallRepositorySubject } from './deprecated-call-repository/subject.js';

export type { DeprecatedCallRepositorySubject } from './deprecated-call-repository/subject.js';

/** What every store of counts of deprecated calls promises. */
export const deprecatedCallRepositoryContract: Contract<DeprecatedCallRepositorySubject> = {
  port: 'DeprecatedCallRepository',
  cases: [
    ...keepingCases,
    ...addingCases,
    ...listingCases,
    ...repeatingCases,
    ...endingCases,
    ...outlivingCases,
  ],
};
