import type { Contract } from './contract.js';
import { addingCases } from './pet-repository/adding.js';
import { claimingCases } from './pet-repository/claiming.js';
import { copiesCases } from './pet-repository/copies.js';
import { durabilityCases } from './pet-repository/durability.js';
import { endingCases } from './pet-repository/ending.js';
import { lapsingCases } from './pet-repository/lapsing.js';
import { orderingCases } from './pet-repository/ordering.js';
import { readingCases } from './pet-repository/reading.js';
import { sharingCases } from './pet-repository/sharing.js';
import type { PetRepositorySubject } from './pet-repository/subject.js';
import { traversingCases } from './pet-repository/traversing.js';

export type { PetRepositorySubject } from './pet-repository/subject.js';

/** What every store of animals promises. Capabilities are owed by those that declare them. */
export const petRepositoryContract: Contract<PetRepositorySubject> = {
  port: 'PetRepository',
  cases: [
    ...addingCases,
    ...copiesCases,
    ...readingCases,
    ...traversingCases,
    ...claimingCases,
    ...lapsingCases,
    ...endingCases,
    ...durabilityCases,
    ...sharingCases,
    ...orderingCases,
  ],
};
