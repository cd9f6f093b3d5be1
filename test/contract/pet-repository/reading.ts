import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import type { Pet } from '../../../src/domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import type { Clauses } from '../contract.js';
import { samplePet, times } from '../samples.js';
import { addAll, byId, listAll, type StoreRun } from '../store-subject.js';

const withStatusInTurn = (number: number) =>
  samplePet({ status: PET_STATUSES[number % 3] ?? 'sold' });

/** Names and categories fall while ids rise, and twelve ids have one digit or two: no other order looks right. */
const TWELVE = times(12, (number) =>
  samplePet({
    ...withStatusInTurn(number),
    name: `Pet ${90 - number}`,
    categoryId: BigInt(90 - number),
  }),
);

/** Reads page by page to the first empty one, while 90 more animals are added, three a page. */
async function traverseWhileOthersAdd(
  pets: PetRepository,
  { status, limit }: Parameters<PetRepository['list']>[0],
): Promise<Pet[]> {
  const seen: Pet[] = [];
  const toAdd = times(90, withStatusInTurn);
  let after: bigint | undefined;
  for (;;) {
    const listing = pets.list({ after, limit, status });
    const [page] = await Promise.all([listing, addAll(pets, toAdd.splice(0, 3))]);
    assert.ok(page.length <= limit, `a page of at most ${limit} has ${page.length} animals`);
    for (const pet of page) {
      assert.ok(after === undefined || pet.id > after, `${pet.id} came after ${after}`);
      after = pet.id;
    }
    if (page.length === 0) return seen;
    seen.push(...page);
  }
}

/** Compares one by one: to show all differences of thousands of animals would take minutes. */
function checkSeen(
  seen: readonly Pet[],
  before: readonly Pet[],
  status: PetStatus | undefined,
): void {
  const existedBefore = new Set(before.map(({ id }) => id));
  const expected = before.filter((pet) => status === undefined || pet.status === status);
  const seenAgain = seen.filter(({ id }) => existedBefore.has(id));
  for (const [index, pet] of expected.entries()) assert.deepEqual(seenAgain[index], pet);
  assert.equal(seenAgain.length, expected.length);
  for (const pet of seen) {
    assert.ok(status === undefined || pet.status === status, `${pet.id} is ${pet.status}`);
  }
}

export const READING: Clauses<StoreRun> = {
  async 'finds each animal by its own id, and none by an id that was not assigned'({ pets }) {
    const stored = await addAll(pets, TWELVE);
    for (const pet of stored) assert.deepEqual(await pets.findById(pet.id), pet);
    const last = stored.at(-1)?.id ?? 0n;
    // An id congruent to a stored one by 2^32 or 2^53 shows where digits get lost.
    for (const id of [0n, -1n, last + 1n, last + 2n ** 32n, last + 2n ** 53n, INT64_MAX, INT64_MIN])
      assert.equal(await pets.findById(id), undefined, `${id}`);
  },
  async 'lists and finds nothing when the store is empty'({ pets }) {
    for (const id of [0n, 1n, INT64_MAX]) assert.equal(await pets.findById(id), undefined);
    assert.deepEqual(await listAll(pets), []);
    assert.deepEqual(await pets.list({ after: 5n, limit: 20, status: 'sold' }), []);
  },
  async 'lists in ascending order of id, and no more than the limit'({ pets }) {
    const stored = await addAll(pets, TWELVE);
    assert.deepEqual(await listAll(pets), stored.toSorted(byId));
    for (const limit of [1, 2, 11, 12, 13]) {
      assert.deepEqual(await pets.list({ limit }), stored.slice(0, limit), `limit ${limit}`);
    }
  },
  async 'starts after the given id, whether or not an animal has it'({ pets }) {
    const stored = await addAll(pets, TWELVE);
    for (const [index, { id }] of stored.entries()) {
      assert.deepEqual(await pets.list({ after: id, limit: 20 }), stored.slice(index + 1));
    }
    const greatest = stored.at(-1)?.id ?? 0n;
    for (const after of [greatest + 1n, greatest + 2n ** 32n, greatest + 2n ** 53n, INT64_MAX]) {
      assert.deepEqual(await pets.list({ after, limit: 20 }), [], `after ${after}`);
    }
    for (const after of [undefined, 0n, -1n, -(2n ** 53n) - 1n, INT64_MIN]) {
      assert.deepEqual(await pets.list({ after, limit: 20 }), stored, `after ${after}`);
    }
  },
  async 'lists the animals with a status, as many as the limit allows'({ pets }) {
    const stored = await addAll(pets, TWELVE);
    for (const status of PET_STATUSES) {
      const matching = stored.filter((pet) => pet.status === status);
      const [first, second] = matching.map(({ id }) => id);
      assert.deepEqual(await pets.list({ limit: 20, status }), matching);
      assert.deepEqual(await pets.list({ limit: 3, status }), matching.slice(0, 3));
      const afterSecond = await pets.list({ after: second, limit: 20, status });
      assert.deepEqual(afterSecond, matching.slice(2));
      const oneAfterFirst = await pets.list({ after: first, limit: 1, status });
      assert.deepEqual(oneAfterFirst, matching.slice(1, 2));
    }
  },
  async 'returns each of thousands of animals exactly once, page by page, while others add'(
    { pets },
    context,
  ) {
    const { animals } = context;
    const before: Pet[] = [];
    while (before.length < animals) {
      const count = Math.min(100, animals - before.length);
      before.push(...(await addAll(pets, times(count, withStatusInTurn))));
    }
    assert.equal((await pets.list({ limit: animals })).length, animals, 'for a limit of all');
    checkSeen(await traverseWhileOthersAdd(pets, { limit: 100 }), before, undefined);
    checkSeen(await traverseWhileOthersAdd(pets, { status: 'sold', limit: 100 }), before, 'sold');
  },
};
