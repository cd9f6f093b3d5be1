import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { createAnimalStore, type Claim, type ExperimentalAnimalStore } from '../../src/index.js';
import { animalStoreTests } from '../contract/index.js';
import { SettableClock } from '../settable-clock.js';

const HOUR = 60 * 60 * 1000;
const fido = { name: 'Fido', categoryId: 1n };
const idempotencyKey = { scope: 'a scope', key: 'a key' };

/** What a caller without a compiler, or an adapter, passes on. */
const untyped = (value: unknown): never => value as never;

describe('The use cases', () => {
  animalStoreTests({
    describe,
    it,
    async open() {
      const { close, ...store } = openMemoryStore();
      return { animalStore: createAnimalStore(store), close };
    },
  });

  it('do not call the store when the call is not valid', async () => {
    const { close, ...store } = openMemoryStore();
    const subject = createAnimalStore(store);
    await close();
    const invalid: ReadonlyArray<readonly [string, (store: ExperimentalAnimalStore) => unknown]> = [
      ['invalid_parameter', (animals) => animals.listPets({ limit: 0 })],
      ['invalid_parameter', (animals) => animals.listPets({ limit: untyped('20') })],
      ['invalid_parameter', (animals) => animals.listPets({ status: untyped('gone') })],
      ['invalid_parameter', (animals) => animals.listPets({ after: 2n ** 63n })],
      ['invalid_pet', (animals) => animals.createPet(untyped({}))],
      ['invalid_parameter', (animals) => animals.createPet(fido, { idempotencyKey: untyped({}) })],
      ['invalid_parameter', (animals) => animals.getPet(2 ** 53)],
      ['pet_not_found', (animals) => animals.getPet(2n ** 63n)],
      ['invalid_pet', (animals) => animals.changePet(1n, {})],
      ['invalid_parameter', (animals) => animals.changePet(1n, fido, { from: untyped('gone') })],
      ['invalid_parameter', (animals) => animals.removePet(1n, { from: untyped('gone') })],
    ];

    // The store would reject with `service_unavailable`.
    for (const [code, call] of invalid)
      await rejects(async () => call(subject), { code }, String(call));
  });

  it('pass the signal of a call on to the store, and refuse one that is aborted first', async () => {
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    const note = async (...given: unknown[]) => void seen.push(given.at(-1));
    const recording: never = untyped(new Proxy({}, { get: () => note }));
    const animals = createAnimalStore({ pets: recording, changes: recording });
    const calls = (options: { signal: AbortSignal }) =>
      [
        () => animals.listPets({}, options),
        () => animals.createPet(fido, options),
        () => animals.createPet(fido, { ...options, idempotencyKey }),
        () => animals.getPet(1n, options),
        () => animals.changePet(1n, fido, options),
        () => animals.removePet(1n, options),
      ] as const;

    for (const call of calls({ signal })) await call().catch(() => {});
    expect(seen).to.deep.equal(Array.from({ length: 6 }, () => ({ signal })));

    const reason = new Error('given up');
    for (const call of calls({ signal: AbortSignal.abort(reason) })) await rejects(call, reason);
    expect(seen).to.have.lengthOf(6);
  });

  it('claim an idempotency key for 24 hours by the clock', async () => {
    const clock = new SettableClock();
    const { pets } = openMemoryStore();
    const claims: Claim[] = [];
    const animals = createAnimalStore({
      pets: {
        ...pets,
        addOnce(pet, claim, ...rest) {
          claims.push(claim);
          return pets.addOnce(pet, claim, ...rest);
        },
      },
      clock,
    });

    const keepUntil = clock.in(24 * HOUR).getTime();
    const first = await animals.createPet(fido, { idempotencyKey });
    clock.advance(24 * HOUR - 1);
    const replay = await animals.createPet(fido, { idempotencyKey });
    clock.advance(1);
    const second = await animals.createPet(fido, { idempotencyKey });

    expect(replay).to.deep.equal({ pet: first.pet, replayed: true });
    expect(second).to.include({ replayed: false });
    expect(second.pet.id).not.to.equal(first.pet.id);
    expect(claims[0]).to.deep.equal({
      ...idempotencyKey,
      fingerprint: '["Fido","1","available"]',
      keepUntil,
    });
  });
});
