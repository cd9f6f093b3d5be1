import { creatingCases } from './animal-store/creating.js';
import { gettingCases } from './animal-store/getting.js';
import { listingCases } from './animal-store/listing.js';
import { pagingCases } from './animal-store/paging.js';
import { repeatingCases } from './animal-store/repeating.js';
import type { AnimalStoreSubject } from './animal-store/subject.js';
import type { Contract } from './contract.js';

export type { AnimalStoreSubject } from './animal-store/subject.js';

/** What the animal store promises its callers, in this process or over a wire. Errors are told by their code. */
export const animalStoreContract: Contract<AnimalStoreSubject> = {
  port: 'AnimalStore',
  cases: [...listingCases, ...pagingCases, ...creatingCases, ...gettingCases, ...repeatingCases],
};
