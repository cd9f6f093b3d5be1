import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import type { Pet } from '../../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { FILTERS, petInTurn, samplePet, times } from '../samples.js';
import type { StoreSubject } from '../store-cases.js';
import { addAll, listAll } from '../stored-animals.js';
import type { Cases } from '../suite.js';

/** Names and categoryIds descend, and ids have one or two digits: only the order by number passes. */
const TWELVE = times(12, (number) =>
  samplePet({
    ...petInTurn(number),
    name: `Pet ${90 - number}`,
    categoryId: BigInt(90 - number),
  }),
);

/** Reads pages up to the first empty one. Beside each it adds animals, and removes and changes some of `others`. */
async function traverse(
  { pets, changes }: StoreSubject,
  query: Parameters<PetRepository['list']>[0],
  others: Pet[],
): Promise<readonly Pet[]> {
  const seen: Pet[] = [];
  const toAdd = times(90, petInTurn);
  for (;;) {
    const [page] = await Promise.all([
      pets.list({ ...query, after: seen.at(-1)?.id }),
      addAll(pets, toAdd.splice(0, 3)),
      ...others.splice(0, 2).map(({ id }) => changes?.remove(id, undefined)),
      ...others.splice(0, 2).map(({ id }) => changes?.change(id, { name: 'x' }, undefined)),
    ]);
    if (page.length === 0) return seen;
    seen.push(...page);
    assert.ok(seen.length < 2000, 'the traversal makes no progress');
  }
}

export function readingCases(cases: Cases<StoreSubject>): void {
  const test = cases('pets');

  test('finds no animal by an id that was not assigned', async ({ pets }) => {
    assert.deepEqual(await pets.list({ after: 5n, limit: 20, status: 'sold' }), []);
    assert.equal(await pets.findById(1n), undefined);
    const stored = await addAll(pets, TWELVE);
    const { id: last = 0n } = stored.at(-1) ?? {};
    // An id congruent to a stored one by 2^32 or 2^53 shows where digits get lost.
    for (const id of [0n, -1n, last + 1n, last + 2n ** 32n, last + 2n ** 53n, INT64_MAX, INT64_MIN])
      assert.equal(await pets.findById(id), undefined, `${id}`);
  });

  test('lists what is after an id and has a status, in ascending order of id, up to the limit', async ({
    pets,
  }) => {
    const stored = await addAll(pets, TWELVE);
    const ids = stored.map(({ id }) => id);
    const greatest = ids.at(-1) ?? 0n;
    const beyond = [greatest + 1n, greatest + 2n ** 32n, greatest + 2n ** 53n, INT64_MAX];
    for (const after of [undefined, INT64_MIN, -(2n ** 53n) - 1n, 0n, ...ids, ...beyond])
      for (const status of FILTERS)
        for (const limit of [1, 3, 12, 20]) {
          const listed = await pets.list({ after, limit, status });
          const matching = stored
            .filter(({ id }) => after === undefined || id > after)
            .filter((pet) => status === undefined || pet.status === status);
          const query = `after ${after}, limit ${limit}, status ${status}`;
          assert.deepEqual(listed, matching.slice(0, limit), query);
        }
  });

  test('lists each of 300 animals once, page by page, while others are added, changed and removed', async (subject) => {
    const before = await addAll(subject.pets, times(300, petInTurn));
    assert.deepEqual(await listAll(subject.pets), before);
    const staying = before.filter((_, index) => index % 2 === 0);
    const others = before.filter((_, index) => index % 2 === 1);
    const ids = new Set(staying.map(({ id }) => id));
    for (const status of [undefined, 'sold'] as const) {
      const seen = await traverse(subject, { status, limit: 40 }, others);
      const expected = staying.filter((pet) => status === undefined || pet.status === status);
      const seenOfThem = seen.filter(({ id }) => ids.has(id));
      assert.deepEqual(seenOfThem, expected, `listed as ${status ?? 'any'}`);
    }
  });
}
