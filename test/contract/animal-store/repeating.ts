import { assert } from '../assert.js';
import type { NewPet } from '../../../src/domain/pet.js';
import { rejectsWithCode } from '../rejection.js';
import { times } from '../samples.js';
import { untyped, type AnimalStoreCase, type AnimalStoreSubject } from './subject.js';

const fido: NewPet = { name: 'Fido', categoryId: 2n ** 53n + 1n };

const keyed = (fields: { scope?: string; key?: string } = {}) => ({
  idempotencyKey: { scope: 'a-scope', key: 'a-key', ...fields },
});

const unlessScopeIsGiven = ({ scopeOfCaller }: AnimalStoreSubject): string | undefined =>
  scopeOfCaller ? 'idempotency keys get their scope from who is calling' : undefined;

const refusesRequest =
  (...requests: readonly { scope?: unknown; key?: unknown }[]) =>
  async ({ animalStore }: AnimalStoreSubject): Promise<void> => {
    for (const fields of requests) {
      const call = { idempotencyKey: { ...keyed().idempotencyKey, ...fields } };
      await rejectsWithCode(untyped(animalStore).createPet(fido, call), 'invalid_parameter');
    }
    assert.deepEqual(await animalStore.listPets(), { pets: [] });
  };

export const repeatingCases: readonly AnimalStoreCase[] = [
  {
    name: 'creates once for a idempotency key and replays the animal as it was created',
    async run({ animalStore }) {
      const created = await animalStore.createPet(fido, keyed());
      assert.equal(created.replayed, false);
      for (let count = 0; count < 3; count += 1) {
        const replay = await animalStore.createPet(fido, keyed());
        assert.deepEqual(replay, { pet: created.pet, replayed: true });
        assert.ok(Object.isFrozen(replay.pet));
      }
      assert.deepEqual(await animalStore.listPets(), { pets: [created.pet] });
    },
  },
  {
    name: 'takes the same animal written otherwise for the same animal',
    async run({ animalStore }) {
      const { pet } = await animalStore.createPet({ name: 'Fido', categoryId: 7n }, keyed());
      const replay = await animalStore.createPet(
        { status: 'available', categoryId: 7, name: 'Fido' },
        keyed(),
      );
      assert.deepEqual(replay, { pet, replayed: true });
    },
  },
  ...[
    { name: 'fido' },
    { name: 'Fido ' },
    { categoryId: 2n ** 53n },
    { categoryId: -(2n ** 53n) - 1n },
    { status: 'sold' as const },
  ].map((difference): AnimalStoreCase => ({
    name: `refuses a idempotency key that was used for an animal with another ${Object.keys(difference).join()} (${Object.values(difference).join()}), and stores nothing`,
    async run({ animalStore }) {
      const { pet } = await animalStore.createPet(fido, keyed());
      await rejectsWithCode(
        animalStore.createPet({ ...fido, ...difference }, keyed()),
        'idempotency_key_reused',
      );
      assert.deepEqual(await animalStore.listPets(), { pets: [pet] });
      assert.deepEqual(await animalStore.createPet(fido, keyed()), { pet, replayed: true });
    },
  })),
  {
    name: 'keeps another idempotency key apart',
    async run({ animalStore }) {
      const first = await animalStore.createPet(fido, keyed({ key: 'one' }));
      const second = await animalStore.createPet(fido, keyed({ key: 'One' }));
      assert.equal(second.replayed, false);
      assert.deepEqual(await animalStore.listPets(), { pets: [first.pet, second.pet] });
    },
  },
  {
    name: 'keeps the same idempotency key of another scope apart',
    unless: unlessScopeIsGiven,
    async run({ animalStore }) {
      const first = await animalStore.createPet(fido, keyed({ scope: 'one' }));
      const second = await animalStore.createPet(fido, keyed({ scope: 'other' }));
      assert.equal(second.replayed, false);
      assert.deepEqual(await animalStore.listPets(), { pets: [first.pet, second.pet] });
    },
  },
  {
    name: 'keeps nothing of a idempotency key that came with a faulty animal',
    async run({ animalStore }) {
      await rejectsWithCode(animalStore.createPet({ ...fido, name: ' ' }, keyed()), 'invalid_pet');
      assert.equal((await animalStore.createPet(fido, keyed())).replayed, false);
    },
  },
  {
    name: 'creates one animal for twenty simultaneous calls with one idempotency key',
    async run({ animalStore }) {
      const results = await Promise.allSettled(times(20, () => animalStore.createPet(fido, keyed())));
      const { pets } = await animalStore.listPets();
      assert.equal(pets.length, 1);
      for (const result of results) {
        if (result.status === 'fulfilled') assert.deepEqual(result.value.pet, pets[0]);
        else await rejectsWithCode(Promise.reject(result.reason), 'idempotency_conflict');
      }
      assert.ok(
        results.filter((result) => result.status === 'fulfilled' && !result.value.replayed).length <= 1,
      );
    },
  },
  {
    name: 'takes a idempotency key of 1 to 255 characters',
    async run({ animalStore }) {
      for (const key of ['x', 'x'.repeat(255)]) {
        assert.equal((await animalStore.createPet(fido, keyed({ key }))).replayed, false);
        assert.equal((await animalStore.createPet(fido, keyed({ key }))).replayed, true);
      }
    },
  },
  {
    name: 'refuses a idempotency key that is empty, too long or not Unicode, and stores nothing',
    run: refusesRequest({ key: '' }, { key: 'x'.repeat(256) }, { key: '\ud800' }, { key: 5 }),
  },
  {
    name: 'refuses a scope that is empty, too long or not Unicode, and stores nothing',
    unless: unlessScopeIsGiven,
    run: refusesRequest({ scope: '' }, { scope: 'x'.repeat(256) }, { scope: '\ud800' }, { scope: 5 }),
  },
];
