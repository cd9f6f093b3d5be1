import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { storeCases } from '../store-cases.js';
import type { PortSuite } from '../store-suite.js';
import { addingCases } from './adding.js';
import { claimingCases } from './claiming.js';
import { readingCases } from './reading.js';

/** The clauses of `PetRepository`. `open` resolves to a store, to `{ pets }` or to the repository itself. */
export function petRepositoryTests(suite: PortSuite<PetRepository>): void {
  const cases = storeCases(suite, 'pets');
  suite.describe('PetRepository', () => {
    addingCases(cases);
    readingCases(cases);
    claimingCases(cases);
  });
}
