import { strict as assert } from 'node:assert';
import type { PetRange, PetRepository } from '../../../src/application/ports/pet-repository.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet-status.js';
import type { Pet } from '../../../src/domain/pet.js';
import { samplePet, times } from '../samples.js';
import { addAll, type PetRepositoryCase } from './subject.js';

const withStatusInTurn = (number: number) => samplePet({ status: PET_STATUSES[number % 3] ?? 'sold' });

/** Walks from page to page to the first empty one; while a page is read, three more animals are added. */
async function walkWhileOthersAdd(pets: PetRepository, status: PetStatus | undefined): Promise<Pet[]> {
  const met: Pet[] = [];
  const toAdd = times(90, withStatusInTurn);
  const nextPage = (range: PetRange) =>
    Promise.all([pets.list(range), addAll(pets, toAdd.splice(0, 3))]).then(([page]) => page);
  let after: bigint | undefined;
  for (;;) {
    const page = await nextPage({ after, limit: 7, status });
    assert.ok(page.length <= 7);
    for (const pet of page) {
      assert.ok(after === undefined || pet.id > after, `${pet.id} came after ${after}`);
      after = pet.id;
    }
    if (page.length === 0) return met;
    met.push(...page);
  }
}

export const traversingCases: readonly PetRepositoryCase[] = [undefined, ...PET_STATUSES].map((status) => ({
  name: `meets each of some hundreds of animals exactly once, page by page, while others add: ${
    status === undefined ? 'all' : `those ${status}`
  }`,
  async run({ pets }) {
    const before = await addAll(pets, times(300, withStatusInTurn));
    const met = await walkWhileOthersAdd(pets, status);
    const expected = before.filter((pet) => status === undefined || pet.status === status);
    const existedBefore = new Set(before.map(({ id }) => id));
    assert.deepEqual(
      met.filter(({ id }) => existedBefore.has(id)),
      expected,
    );
    assert.ok(met.every((pet) => status === undefined || pet.status === status));
  },
}));
