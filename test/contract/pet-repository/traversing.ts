import { assert } from '../assert.js';
import type { PetRange, PetRepository } from '../../../src/application/ports/pet-repository.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet.js';
import type { Pet } from '../../../src/domain/pet.js';
import { samplePet, times } from '../samples.js';
import { DEFAULT_ANIMALS } from '../contract.js';
import { addAll, type PetRepositoryCase } from './subject.js';

const withStatusInTurn = (number: number) => samplePet({ status: PET_STATUSES[number % 3] ?? 'sold' });

/** Walks from page to page to the first empty one; while a page is read, three more animals are added, 90 in all. */
async function walkWhileOthersAdd(
  pets: PetRepository,
  { status, limit }: Pick<PetRange, 'status' | 'limit'>,
): Promise<Pet[]> {
  const met: Pet[] = [];
  const toAdd = times(90, withStatusInTurn);
  const nextPage = (range: PetRange) =>
    Promise.all([pets.list(range), addAll(pets, toAdd.splice(0, 3))]).then(([page]) => page);
  let after: bigint | undefined;
  for (;;) {
    const page = await nextPage({ after, limit, status });
    assert.ok(page.length <= limit);
    for (const pet of page) {
      assert.ok(after === undefined || pet.id > after, `${pet.id} came after ${after}`);
      after = pet.id;
    }
    if (page.length === 0) return met;
    met.push(...page);
  }
}

/**
 * Holds what was met of the animals that were there before the walk to what has to be met of them. One by one:
 * to tell all differences of thousands would take minutes.
 */
function checkMet(met: readonly Pet[], before: readonly Pet[], status: PetStatus | undefined): void {
  const existedBefore = new Set(before.map(({ id }) => id));
  const expected = before.filter((pet) => status === undefined || pet.status === status);
  const again = met.filter(({ id }) => existedBefore.has(id));
  for (const [index, pet] of expected.entries()) assert.deepEqual(again[index], pet);
  assert.equal(again.length, expected.length);
  for (const pet of met)
    assert.ok(status === undefined || pet.status === status, `${pet.id} is ${pet.status}`);
}

const some = [undefined, ...PET_STATUSES].map((status): PetRepositoryCase => ({
  name: `meets each of some hundreds of animals exactly once, page by page, while others add: ${
    status === undefined ? 'all' : `those ${status}`
  }`,
  async run({ pets }) {
    const before = await addAll(pets, times(300, withStatusInTurn));
    checkMet(await walkWhileOthersAdd(pets, { status, limit: 7 }), before, status);
  },
}));

const many: PetRepositoryCase = {
  name: 'meets each of thousands of animals exactly once, a hundred a page, while others add',
  async run({ pets }, { animals, note }) {
    if (animals !== DEFAULT_ANIMALS) note(`with ${animals} animals, not ${DEFAULT_ANIMALS}`);
    const before: Pet[] = [];
    while (before.length < animals) {
      const count = Math.min(100, animals - before.length);
      before.push(...(await addAll(pets, times(count, withStatusInTurn))));
    }
    checkMet(await walkWhileOthersAdd(pets, { limit: 100 }), before, undefined);
    checkMet(await walkWhileOthersAdd(pets, { status: 'sold', limit: 100 }), before, 'sold');
  },
};

export const traversingCases: readonly PetRepositoryCase[] = [...some, many];
