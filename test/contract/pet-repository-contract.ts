import type { Contract } from './contract.js';
import { addingCases } from './pet-repository/adding.js';
import { claimingCases } from './pet-repository/claiming.js';
import { endingCases } from './pet-repository/ending.js';
import { handleCases } from './pet-repository/handles.js';
import { readingCases } from './pet-repository/reading.js';
import type { StoreSubject } from './store-subject.js';

/** What every store of animals promises, and what it declares in its capabilities. */
export const petRepositoryContract: Contract<StoreSubject> = {
  port: 'PetRepository',
  cases: [...addingCases, ...readingCases, ...claimingCases, ...endingCases, ...handleCases],
};
