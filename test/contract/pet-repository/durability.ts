import { assert } from '../assert.js';
import { reopened } from '../handles.js';
import { rejectsWithCode } from '../rejection.js';
import { INT64_EDGES, TRICKY_NAMES, samplePet, times } from '../samples.js';
import { sampleClaim } from './claiming.js';
import { DURABLE, addAll, listAll, type PetRepositoryCase } from './subject.js';

export const durabilityCases: readonly PetRepositoryCase[] = [
  {
    name: 'has every animal exactly as it was after closing and opening again',
    needs: DURABLE,
    async run(subject) {
      const kept = await addAll(subject.pets, [
        ...INT64_EDGES.map((categoryId) => samplePet({ categoryId, status: 'sold' })),
        ...Object.values(TRICKY_NAMES).map((name) => samplePet({ name, status: 'pending' })),
      ]);
      const pets = await reopened(subject);
      assert.deepEqual(await listAll(pets), kept);
      for (const pet of kept) assert.deepEqual(await pets.findById(pet.id), pet);
      assert.deepEqual(
        await pets.list({ limit: 1000, status: 'sold' }),
        kept.filter(({ status }) => status === 'sold'),
      );
    },
  },
  {
    name: 'goes on with greater ids after closing and opening again',
    needs: DURABLE,
    async run(subject) {
      const kept = await addAll(
        subject.pets,
        times(5, () => samplePet()),
      );
      const pets = await reopened(subject);
      const { pet } = await pets.add(samplePet());
      assert.ok(kept.every(({ id }) => id < pet.id));
      assert.deepEqual(await listAll(pets), [...kept, pet]);
    },
  },
  {
    name: 'replays a claim that was made before closing and opening again',
    needs: DURABLE,
    async run(subject) {
      const created = await subject.pets.add(samplePet(), { claim: sampleClaim() });
      const pets = await reopened(subject);
      const replay = await pets.add(samplePet(), { claim: sampleClaim({ at: 1 }) });
      assert.deepEqual(replay, { pet: created.pet, replayed: true });
      assert.deepEqual(await listAll(pets), [created.pet]);
    },
  },
  {
    name: 'refuses another fingerprint for a claim that was made before closing and opening again',
    needs: DURABLE,
    async run(subject) {
      await subject.pets.add(samplePet(), { claim: sampleClaim() });
      const pets = await reopened(subject);
      const claim = sampleClaim({ fingerprint: 'another fingerprint' });
      await rejectsWithCode(pets.add(samplePet(), { claim }), 'idempotency_key_reused');
    },
  },
  {
    name: 'has every animal that was answered for while it was closing',
    needs: DURABLE,
    async run(subject) {
      const adding = Promise.allSettled(times(20, () => subject.pets.add(samplePet())));
      const pets = await reopened(subject);
      for (const result of await adding) {
        if (result.status === 'fulfilled') {
          assert.deepEqual(await pets.findById(result.value.pet.id), result.value.pet);
        }
      }
    },
  },
];
