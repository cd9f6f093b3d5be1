import type { Call } from '../../../src/application/animal-store.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { assert } from '../assert.js';
import { promise } from '../contract.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { claimed, samplePet, times } from '../samples.js';
import { listAll, type StoreCase } from '../store-subject.js';

type Operation = (pets: PetRepository, id: bigint, call?: Call) => Promise<unknown>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  add: (pets, _id, call) => pets.add(samplePet(), call),
  'add with a claim': (pets, _id, call) => pets.add(samplePet(), { ...claimed(), ...call }),
  findById: (pets, id, call) => pets.findById(id, call),
  list: (pets, _id, call) => pets.list({ limit: 100 }, call),
  check: (pets, _id, call) => pets.check(call),
};

export const endingCases: readonly StoreCase[] = [
  promise('closes twice, and twice at once', async ({ pets }) => {
    await Promise.all([pets.close(), pets.close()]);
    await pets.close();
  }),
  promise('closes within 5 seconds', async ({ pets }) => {
    await Promise.all(times(5, () => pets.add(samplePet())));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => (timer = setTimeout(resolve, 5000, 'late')));
    assert.notEqual(await Promise.race([pets.close(), late]), 'late', 'close takes longer than 5 seconds');
    clearTimeout(timer);
  }),
  ...Object.entries(OPERATIONS).flatMap(([operation, call]): StoreCase[] => [
    promise(`rejects with service_unavailable after close: ${operation}`, async ({ pets }) => {
      const { pet } = await pets.add(samplePet(), claimed());
      await call(pets, pet.id);
      await pets.close();
      await rejectsWithCode(call(pets, pet.id), 'service_unavailable');
    }),
    promise(
      `rejects with the reason of an aborted signal, even if it knows the result, and stores nothing: ${operation}`,
      async ({ pets }) => {
        await rejectsWhenAborted((aborted) => call(pets, 1n, aborted));
        assert.deepEqual(await listAll(pets), []);
        const { pet, replayed } = await pets.add(samplePet(), claimed());
        assert.equal(replayed, false);
        await call(pets, pet.id);
        const before = await listAll(pets);
        await rejectsWhenAborted((aborted) => call(pets, pet.id, aborted));
        assert.deepEqual(await listAll(pets), before);
      },
    ),
  ]),
  promise(
    'resolves an add that is aborted in progress, or rejects it with the reason; others go on, and its claim can be made',
    async ({ pets }) => {
      const controller = new AbortController();
      const { signal } = controller;
      const add = (number: number, call: Call) =>
        pets.add(samplePet({ name: `Pet ${number}` }), { ...claimed({ key: `key ${number}` }), ...call });
      const adding = times(20, (number) => add(number, number % 2 === 0 ? { signal } : {}));
      controller.abort(new Error('given up'));
      for (const [index, result] of (await Promise.allSettled(adding)).entries()) {
        const again = await add(index + 1, { signal: new AbortController().signal });
        if (result.status === 'fulfilled') {
          assert.deepEqual(again, { pet: result.value.pet, replayed: true });
          continue;
        }
        assert.equal(index % 2, 1, `${String(result.reason)} reached a call that was not aborted`);
        assert.equal(result.reason, signal.reason);
        assert.equal(again.pet.name, `Pet ${index + 1}`);
      }
      assert.equal((await listAll(pets)).length, 20);
    },
  ),
  promise('leaves no listener on the signal of a call that is over', async ({ pets }) => {
    const { signal } = new AbortController();
    const listeners: unknown[] = [];
    signal.addEventListener = (...[type, listener, options]: Parameters<EventTarget['addEventListener']>) => {
      listeners.push(listener);
      EventTarget.prototype.addEventListener.call(signal, type, listener, options);
    };
    signal.removeEventListener = (...[type, listener]: Parameters<EventTarget['removeEventListener']>) => {
      if (listeners.includes(listener)) listeners.splice(listeners.indexOf(listener), 1);
      EventTarget.prototype.removeEventListener.call(signal, type, listener);
    };
    for (const call of Object.values(OPERATIONS)) await call(pets, 1n, { signal });
    await new Promise((resolve) => setTimeout(resolve));
    assert.equal(listeners.length, 0, `${listeners.length} listeners are left after 5 calls`);
  }),
  promise('resolves a read that is aborted in progress, or rejects it with the reason', async ({ pets }) => {
    const { pet } = await pets.add(samplePet());
    for (let turns = 0; turns < 10; turns += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [
        pets.findById(pet.id, { signal }),
        pets.list({ limit: 1 }, { signal }),
        pets.check({ signal }),
      ];
      const settled = Promise.allSettled<unknown>(calls);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      controller.abort(new Error('given up'));
      const values = [pet, [pet], undefined];
      for (const [index, result] of (await settled).entries()) {
        if (result.status === 'fulfilled') assert.deepEqual(result.value, values[index]);
        else assert.equal(result.reason, signal.reason);
      }
    }
  }),
  promise(
    'finishes calls that are in progress at close, or rejects them with service_unavailable',
    async ({ pets }) => {
      const calls = [
        ...times(5, () => pets.add(samplePet())),
        pets.findById(1n),
        pets.list({ limit: 5 }),
        pets.check(),
      ];
      const settled = Promise.allSettled<unknown>(calls);
      await pets.close();
      for (const result of await settled) {
        if (result.status === 'rejected') {
          await rejectsWithCode(Promise.reject(result.reason), 'service_unavailable');
        }
      }
    },
  ),
];
