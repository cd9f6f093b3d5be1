import { changingCases } from './animal-store/changing.js';
import { creatingCases } from './animal-store/creating.js';
import { readingCases } from './animal-store/reading.js';
import type { AnimalStoreSubject } from './animal-store/subject.js';
import type { Contract } from './contract.js';

export type { AnimalStoreSubject } from './animal-store/subject.js';

/** What the animal store promises its callers, in this process or over HTTP. Errors are compared by their code. */
export const animalStoreContract: Contract<AnimalStoreSubject> = {
  port: 'AnimalStore',
  cases: [...creatingCases, ...readingCases, ...changingCases],
};
