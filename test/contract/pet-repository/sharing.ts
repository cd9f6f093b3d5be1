import { assert } from '../assert.js';
import type { Pet } from '../../../src/domain/pet.js';
import { anotherHandle } from '../handles.js';
import { rejectsWithCode } from '../rejection.js';
import { samplePet, times } from '../samples.js';
import { sampleClaim } from './claiming.js';
import { SHARED, addAll, listAll, type PetRepositoryCase } from './subject.js';

/** Wherever it stands: ids of different handles need not ascend together. */
const findIn = (page: readonly Pet[], { id }: Pet): Pet | undefined => page.find((pet) => pet.id === id);

export const sharingCases: readonly PetRepositoryCase[] = [
  {
    name: 'shows an animal to another handle as soon as its add is answered',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      for (const [writer, reader] of times(10, (number) =>
        number % 2 === 0 ? ([subject.pets, other] as const) : ([other, subject.pets] as const),
      )) {
        const { pet } = await writer.add(samplePet({ status: 'sold' }));
        assert.deepEqual(await reader.findById(pet.id), pet);
        assert.deepEqual(findIn(await reader.list({ limit: 100 }), pet), pet);
        assert.deepEqual(findIn(await reader.list({ limit: 100, status: 'sold' }), pet), pet);
      }
    },
  },
  {
    name: 'gives distinct ids to simultaneous writers on two handles',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      const animals = times(20, (number) => samplePet({ name: `Pet ${number}` }));
      const added = await Promise.all([addAll(subject.pets, animals), addAll(other, animals)]);
      assert.equal(new Set(added.flat().map(({ id }) => id)).size, 40);
      const listed = await listAll(subject.pets);
      assert.equal(listed.length, 40);
      assert.deepEqual(await listAll(other), listed);
    },
  },
  {
    name: 'replays a claim that was made through another handle, and refuses it for another fingerprint',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      const { pet } = await subject.pets.add(samplePet(), { claim: sampleClaim() });
      const replay = await other.add(samplePet(), { claim: sampleClaim() });
      assert.deepEqual(replay, { pet, replayed: true });
      const claim = sampleClaim({ fingerprint: 'another fingerprint' });
      await rejectsWithCode(other.add(samplePet(), { claim }), 'idempotency_key_reused');
      assert.deepEqual(await listAll(subject.pets), [pet]);
    },
  },
  {
    name: 'keeps one animal for simultaneous equal claims on two handles',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      const results = await Promise.allSettled(
        times(20, (number) =>
          (number % 2 === 0 ? subject.pets : other).add(samplePet(), { claim: sampleClaim() }),
        ),
      );
      const [pet, ...others] = await listAll(other);
      assert.ok(pet);
      assert.deepEqual(others, []);
      for (const result of results) {
        if (result.status === 'fulfilled') assert.deepEqual(result.value.pet, pet);
        else await rejectsWithCode(Promise.reject(result.reason), 'idempotency_conflict');
      }
      assert.ok(
        results.filter((result) => result.status === 'fulfilled' && !result.value.replayed).length <= 1,
      );
    },
  },
  {
    name: 'goes on when another handle is closed',
    needs: SHARED,
    async run(subject) {
      const other = await anotherHandle(subject);
      await other.add(samplePet());
      await other.close();
      await subject.pets.check();
      await subject.pets.add(samplePet());
      assert.equal((await listAll(subject.pets)).length, 2);
    },
  },
];
