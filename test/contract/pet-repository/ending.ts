import { assert } from '../assert.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { Call } from '../../../src/application/animal-store.js';
import { rejectsWhenAborted, rejectsWithCode } from '../rejection.js';
import { samplePet, times } from '../samples.js';
import { sampleClaim } from './claiming.js';
import { listAll, type PetRepositoryCase } from './subject.js';

const OPERATIONS: Readonly<Record<string, (pets: PetRepository, call?: Call) => Promise<unknown>>> = {
  add: (pets, call) => pets.add(samplePet(), call),
  'add with a claim': (pets, call) => pets.add(samplePet(), { claim: sampleClaim(), ...call }),
  findById: (pets, call) => pets.findById(1n, call),
  list: (pets, call) => pets.list({ limit: 1 }, call),
  check: (pets, call) => pets.check(call),
};

export const endingCases: readonly PetRepositoryCase[] = [
  {
    name: 'says whether it is durable and whether it is shared',
    async run({ pets }) {
      assert.equal(typeof pets.capabilities.durable, 'boolean');
      assert.equal(typeof pets.capabilities.shared, 'boolean');
    },
  },
  {
    name: 'passes its check while it is open',
    async run({ pets }) {
      assert.equal(await pets.check(), undefined);
      await pets.add(samplePet());
      assert.equal(await pets.check({}), undefined);
    },
  },
  {
    name: 'closes twice, and twice at once',
    async run({ pets }) {
      await Promise.all([pets.close(), pets.close()]);
      await pets.close();
    },
  },
  ...Object.entries(OPERATIONS).flatMap(([operation, call]): PetRepositoryCase[] => [
    {
      name: `rejects with service_unavailable after close: ${operation}`,
      async run({ pets }) {
        await pets.add(samplePet());
        await pets.close();
        await rejectsWithCode(call(pets), 'service_unavailable');
      },
    },
    {
      name: `rejects with the reason of a signal that is aborted already, and keeps nothing: ${operation}`,
      async run({ pets }) {
        await rejectsWhenAborted((aborted) => call(pets, aborted));
        assert.deepEqual(await listAll(pets), []);
        const claim = sampleClaim({ fingerprint: 'another fingerprint' });
        assert.equal((await pets.add(samplePet(), { claim })).replayed, false);
      },
    },
  ]),
  {
    name: 'answers an add that is aborted on its way, or rejects it with the reason, and does the others no harm',
    async run({ pets }) {
      const controller = new AbortController();
      const { signal } = controller;
      const adding = times(20, (number) =>
        pets.add(samplePet({ name: `Pet ${number}` }), number % 2 === 0 ? { signal } : {}),
      );
      controller.abort(new Error('given up'));
      const results = await Promise.allSettled(adding);
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') {
          assert.deepEqual(await pets.findById(result.value.pet.id), result.value.pet);
        } else {
          assert.equal(index % 2, 1, `${String(result.reason)} reached a call that was not aborted`);
          assert.equal(result.reason, signal.reason);
        }
      }
      assert.equal((await pets.add(samplePet(), { signal: new AbortController().signal })).replayed, false);
    },
  },
  {
    name: 'answers a read that is aborted on its way, or rejects it with the reason',
    async run({ pets }) {
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
        const answers = [pet, [pet], undefined];
        for (const [index, result] of (await settled).entries()) {
          if (result.status === 'fulfilled') assert.deepEqual(result.value, answers[index]);
          else assert.equal(result.reason, signal.reason);
        }
      }
    },
  },
  {
    name: 'finishes the calls that are on their way when it closes, or rejects them with service_unavailable',
    async run({ pets }) {
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
  },
];
