import type {
  AnimalStore,
  ExperimentalAnimalStore,
} from '../../../src/application/animal-store.js';
import { casesOf, type SuiteOptions } from '../suite.js';
import { changingCases } from './changing.js';
import { creatingCases } from './creating.js';
import { readingCases } from './reading.js';
import type { AnimalStoreSubject } from './subject.js';

/** What `open` resolves to: an empty animal store, alone or beside what closes it. */
export type OpenedAnimalStore = (AnimalStore | { readonly animalStore: AnimalStore }) & {
  readonly close: () => Promise<void>;
};

/** The clauses of `AnimalStore`. Name `changePet` and `removePet` in `without` if it lacks them. */
export function animalStoreTests(suite: SuiteOptions<OpenedAnimalStore>): void {
  const cases = casesOf({
    ...suite,
    async open() {
      const opened = await suite.open();
      const animalStore = 'animalStore' in opened ? opened.animalStore : opened;
      const { changePet, removePet } = animalStore as Partial<ExperimentalAnimalStore>;
      return {
        animalStore,
        changePet: changePet?.bind(animalStore),
        removePet: removePet?.bind(animalStore),
        close: () => opened.close(),
      } as AnimalStoreSubject; // what the cases need is checked before they run
    },
  });
  suite.describe('AnimalStore', () => {
    creatingCases(cases);
    readingCases(cases);
    changingCases(cases);
  });
}
