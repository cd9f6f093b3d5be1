import { assert } from '../assert.js';
import type { Capability } from '../contract.js';
import { samplePet, times } from '../samples.js';
import { listAll, type PetRepositoryCase, type PetRepositorySubject } from './subject.js';

const ORDERED: Capability<PetRepositorySubject> = {
  name: 'ordered',
  isDeclared: ({ pets }) => pets.capabilities.ordered === true,
  canBeTried: () => true,
};

/** Two handles where the store has several, else the one twice. */
async function twoHandles({ pets, another }: PetRepositorySubject) {
  return [pets, pets.capabilities.shared && another ? await another() : pets] as const;
}

export const orderingCases: readonly PetRepositoryCase[] = [
  {
    name: 'gives each animal an id greater than all before, whichever handle adds it',
    needs: ORDERED,
    async run(subject) {
      const [one, other] = await twoHandles(subject);
      let greatest = 0n;
      for (const writer of times(20, (number) => (number % 3 === 0 ? other : one))) {
        const { pet } = await writer.add(samplePet());
        assert.ok(pet.id > greatest, `${pet.id} came after ${greatest}`);
        greatest = pet.id;
      }
    },
  },
  {
    name: 'shows no animal with an id lower than one seen before, while twenty writers add',
    needs: ORDERED,
    async run(subject) {
      const handles = await twoHandles(subject);
      const [reader] = handles;
      const { pet: first } = await reader.add(samplePet());
      let writing = true;
      const written = Promise.allSettled(
        times(20, async (number) => {
          const writer = handles[number % 2 === 0 ? 1 : 0];
          for (let round = 0; round < 10; round += 1) await writer.add(samplePet());
        }),
      ).finally(() => (writing = false));
      const seen = [first];
      for (let pages = 1, last = false; !last; pages += 1) {
        last = !writing;
        seen.push(...(await reader.list({ after: seen.at(-1)?.id, limit: 1000 })));
        // A store that reads from memory would keep those waiting who write to a disk.
        if (pages % 20 === 0) await new Promise((resolve) => setTimeout(resolve));
      }
      await written;
      assert.deepEqual(seen, await listAll(reader));
      assert.equal(seen.length, 201);
    },
  },
];
