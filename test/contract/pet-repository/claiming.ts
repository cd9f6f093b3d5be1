import { assert } from '../assert.js';
import type { Claim } from '../../../src/application/ports/pet-repository.js';
import { isAnimalStoreError } from '../../../src/domain/errors.js';
import { rejectsWithCode } from '../rejection.js';
import { samplePet, times } from '../samples.js';
import { listAll, type PetRepositoryCase } from './subject.js';

const HOUR = 60 * 60 * 1000;

/** The suite's start: real time, because a store may clear away by its own clock what has lapsed by it. */
const START = Date.now();

/** A claim made `at` milliseconds after the suite's start and kept for 24 hours, with dates of its own. */
export const sampleClaim = ({ at = 0, ...fields }: Partial<Claim> & { at?: number } = {}): Claim => ({
  scope: 'a scope',
  token: 'a token',
  fingerprint: 'a fingerprint',
  now: new Date(START + at),
  keepUntil: new Date(START + at + 24 * HOUR),
  ...fields,
});

/** Pairs of scope and token that are equal when joined, folded, trimmed, cut or normalised. */
const DISTINCT_PAIRS: readonly (readonly [scope: string, token: string])[] = [
  ...[':', '/', '|', ',', '-', '_', ' ', '.', '\0', '\n', '","'].flatMap((separator) => [
    [`a${separator}b`, 'c'] as const,
    ['a', `b${separator}c`] as const,
  ]),
  ['ab', 'c'],
  ['a', 'bc'],
  ['c', 'ab'],
  ['A', 'bc'],
  ['a', 'BC'],
  ['a', 'bc '],
  ['a', ' bc'],
  ['a', '\u00e9'],
  ['a', 'e\u0301'],
  ['a', '%'],
  ['a', '1'],
  ['a', '01'],
  ['a', 'x'.repeat(255)],
  ['a', `${'x'.repeat(254)}y`],
  ['__proto__', 'toString'],
];

export const claimingCases: readonly PetRepositoryCase[] = [
  {
    name: 'creates once for a claim and replays the animal exactly as it was created',
    async run({ pets }) {
      const animal = samplePet({ name: ' Ame\u0301lie ', categoryId: 2n ** 53n + 1n, status: 'pending' });
      const created = await pets.add(animal, { claim: sampleClaim() });
      assert.deepEqual(created, { pet: { id: created.pet.id, ...animal }, replayed: false });
      for (const at of [0, 1, HOUR]) {
        const replay = await pets.add(animal, { claim: sampleClaim({ at }) });
        assert.deepEqual(replay, { pet: created.pet, replayed: true });
      }
      assert.deepEqual(await listAll(pets), [created.pet]);
    },
  },
  {
    name: 'goes by the fingerprint of a claim, not by the animal that comes with it',
    async run({ pets }) {
      const { pet } = await pets.add(samplePet(), { claim: sampleClaim() });
      const replay = await pets.add(samplePet({ name: 'Rex' }), { claim: sampleClaim() });
      assert.deepEqual(replay, { pet, replayed: true });
    },
  },
  {
    name: 'refuses a claim with another fingerprint, keeps nothing of it, and goes on replaying the first',
    async run({ pets }) {
      const { pet } = await pets.add(samplePet(), { claim: sampleClaim() });
      const claim = sampleClaim({ fingerprint: 'another fingerprint' });
      await rejectsWithCode(pets.add(samplePet({ name: 'Rex' }), { claim }), 'idempotency_key_reused');
      assert.deepEqual(await listAll(pets), [pet]);
      const replay = await pets.add(samplePet(), { claim: sampleClaim() });
      assert.deepEqual(replay, { pet, replayed: true });
    },
  },
  {
    name: 'keeps the same token of another scope apart',
    async run({ pets }) {
      const first = await pets.add(samplePet(), { claim: sampleClaim({ scope: 'one' }) });
      const second = await pets.add(samplePet(), { claim: sampleClaim({ scope: 'other' }) });
      assert.equal(second.replayed, false);
      assert.deepEqual(await listAll(pets), [first.pet, second.pet]);
    },
  },
  {
    name: 'keeps another token of the same scope apart',
    async run({ pets }) {
      const first = await pets.add(samplePet(), { claim: sampleClaim({ token: 'one' }) });
      const second = await pets.add(samplePet(), { claim: sampleClaim({ token: 'other' }) });
      assert.equal(second.replayed, false);
      assert.deepEqual(await listAll(pets), [first.pet, second.pet]);
    },
  },
  {
    name: 'keeps scopes and tokens apart that look alike when joined, folded, trimmed or normalised',
    async run({ pets }) {
      const claims = DISTINCT_PAIRS.map(([scope, token]) => sampleClaim({ scope, token }));
      for (const claim of claims) {
        const { replayed } = await pets.add(samplePet(), { claim });
        assert.equal(replayed, false, `${JSON.stringify([claim.scope, claim.token])} was taken for another`);
      }
      assert.equal((await listAll(pets)).length, claims.length);
      for (const claim of claims) assert.equal((await pets.add(samplePet(), { claim })).replayed, true);
    },
  },
  {
    name: 'keeps one animal for twenty simultaneous equal claims, and tells at most one caller that it is new',
    async run({ pets }) {
      const results = await Promise.allSettled(
        times(20, () => pets.add(samplePet(), { claim: sampleClaim() })),
      );
      const [pet, ...others] = await listAll(pets);
      assert.deepEqual(others, []);
      for (const result of results) {
        if (result.status === 'fulfilled') assert.deepEqual(result.value.pet, pet);
        else await rejectsWithCode(Promise.reject(result.reason), 'idempotency_conflict');
      }
      assert.ok(
        results.filter((result) => result.status === 'fulfilled' && !result.value.replayed).length <= 1,
      );
      const later = await pets.add(samplePet(), { claim: sampleClaim() });
      assert.deepEqual(later, { pet, replayed: true });
    },
  },
  {
    name: 'keeps one animal for twenty simultaneous claims of one token with different fingerprints',
    async run({ pets }) {
      const results = await Promise.allSettled(
        times(20, (number) =>
          pets.add(samplePet({ name: `Pet ${number}` }), {
            claim: sampleClaim({ fingerprint: `fingerprint ${number}` }),
          }),
        ),
      );
      const created = results.filter((result) => result.status === 'fulfilled');
      assert.deepEqual(
        created.map(({ value }) => value),
        (await listAll(pets)).map((pet) => ({ pet, replayed: false })),
      );
      assert.equal(created.length, 1);
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        assert.ok(isAnimalStoreError(result.reason), String(result.reason));
        assert.match(result.reason.code, /^idempotency_(?:conflict|key_reused)$/);
      }
    },
  },
];
