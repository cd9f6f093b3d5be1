import { assert } from '../assert.js';
import type { NewPet } from '../../../src/domain/pet.js';
import { rejectsWithCode } from '../rejection.js';
import { times } from '../samples.js';
import { untyped, type AnimalStoreCase, type AnimalStoreSubject } from './subject.js';

const fido: NewPet = { name: 'Fido', categoryId: 2n ** 53n + 1n };

const request = (fields: { scope?: string; token?: string } = {}) => ({
  request: { scope: 'a-scope', token: 'a-token', ...fields },
});

const unlessScopeIsGiven = ({ scopeOfCaller }: AnimalStoreSubject): string | undefined =>
  scopeOfCaller ? 'request tokens get their scope from who is calling' : undefined;

const refusesRequest =
  (...requests: readonly { scope?: unknown; token?: unknown }[]) =>
  async ({ store }: AnimalStoreSubject): Promise<void> => {
    for (const fields of requests) {
      const call = { request: { ...request().request, ...fields } };
      await rejectsWithCode(untyped(store).createPet(fido, call), 'invalid_parameter');
    }
    assert.deepEqual(await store.listPets(), { pets: [] });
  };

export const repeatingCases: readonly AnimalStoreCase[] = [
  {
    name: 'creates once for a request token and replays the animal as it was created',
    async run({ store }) {
      const created = await store.createPet(fido, request());
      assert.equal(created.replayed, false);
      for (let count = 0; count < 3; count += 1) {
        const replay = await store.createPet(fido, request());
        assert.deepEqual(replay, { pet: created.pet, replayed: true });
        assert.ok(Object.isFrozen(replay.pet));
      }
      assert.deepEqual(await store.listPets(), { pets: [created.pet] });
    },
  },
  {
    name: 'takes the same animal written otherwise for the same animal',
    async run({ store }) {
      const { pet } = await store.createPet({ name: 'Fido', categoryId: 7n }, request());
      const replay = await store.createPet({ status: 'available', categoryId: 7, name: 'Fido' }, request());
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
    name: `refuses a request token that was used for an animal with another ${Object.keys(difference).join()} (${Object.values(difference).join()}), and stores nothing`,
    async run({ store }) {
      const { pet } = await store.createPet(fido, request());
      await rejectsWithCode(store.createPet({ ...fido, ...difference }, request()), 'idempotency_key_reused');
      assert.deepEqual(await store.listPets(), { pets: [pet] });
      assert.deepEqual(await store.createPet(fido, request()), { pet, replayed: true });
    },
  })),
  {
    name: 'keeps another request token apart',
    async run({ store }) {
      const first = await store.createPet(fido, request({ token: 'one' }));
      const second = await store.createPet(fido, request({ token: 'One' }));
      assert.equal(second.replayed, false);
      assert.deepEqual(await store.listPets(), { pets: [first.pet, second.pet] });
    },
  },
  {
    name: 'keeps the same request token of another scope apart',
    unless: unlessScopeIsGiven,
    async run({ store }) {
      const first = await store.createPet(fido, request({ scope: 'one' }));
      const second = await store.createPet(fido, request({ scope: 'other' }));
      assert.equal(second.replayed, false);
      assert.deepEqual(await store.listPets(), { pets: [first.pet, second.pet] });
    },
  },
  {
    name: 'keeps nothing of a request token that came with a faulty animal',
    async run({ store }) {
      await rejectsWithCode(store.createPet({ ...fido, name: ' ' }, request()), 'invalid_pet');
      assert.equal((await store.createPet(fido, request())).replayed, false);
    },
  },
  {
    name: 'creates one animal for twenty simultaneous calls with one request token',
    async run({ store }) {
      const results = await Promise.allSettled(times(20, () => store.createPet(fido, request())));
      const { pets } = await store.listPets();
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
    name: 'takes a request token of 1 to 255 characters',
    async run({ store }) {
      for (const token of ['x', 'x'.repeat(255)]) {
        assert.equal((await store.createPet(fido, request({ token }))).replayed, false);
        assert.equal((await store.createPet(fido, request({ token }))).replayed, true);
      }
    },
  },
  {
    name: 'refuses a request token that is empty, too long or not Unicode, and stores nothing',
    run: refusesRequest({ token: '' }, { token: 'x'.repeat(256) }, { token: '\ud800' }, { token: 5 }),
  },
  {
    name: 'refuses a scope that is empty, too long or not Unicode, and stores nothing',
    unless: unlessScopeIsGiven,
    run: refusesRequest({ scope: '' }, { scope: 'x'.repeat(256) }, { scope: '\ud800' }, { scope: 5 }),
  },
];
