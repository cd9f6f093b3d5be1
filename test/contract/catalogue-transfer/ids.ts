import { assert } from '../assert.js';
import { samplePet } from '../samples.js';
import { petsWithIds, write, type CatalogueTransferCase } from './subject.js';

export const idCases: readonly CatalogueTransferCase[] = [
  ...[1n, 41n, 2n ** 32n, 2n ** 53n + 1n].map((last): CatalogueTransferCase => ({
    name: `goes on with greater ids when those up to ${last} are reserved`,
    async run({ transfer, pets }) {
      await transfer.reserveIds(last);
      const { pet } = await pets.add(samplePet());
      assert.ok(pet.id > last, `${pet.id} was assigned`);
      assert.deepEqual(await pets.findById(pet.id), pet);
    },
  })),
  {
    name: 'goes on with greater ids than all that were written',
    async run({ transfer, pets }) {
      await write(transfer, petsWithIds(1n, 2n, 77n));
      const { pet } = await pets.add(samplePet());
      assert.ok(pet.id > 77n, `${pet.id} was assigned`);
    },
  },
  {
    name: 'takes nothing back when fewer ids are reserved, or none',
    async run({ transfer, pets }) {
      await transfer.reserveIds(50n);
      await Promise.all([transfer.reserveIds(7n), transfer.reserveIds(60n), transfer.reserveIds(0n)]);
      const { lastId } = await transfer.survey();
      assert.ok(lastId >= 60n);
      assert.ok((await pets.add(samplePet())).pet.id > 60n);
    },
  },
  {
    name: 'tells how far the ids went, assigned or reserved',
    async run({ transfer, pets }) {
      assert.equal((await transfer.survey()).lastId, 0n);
      const { pet } = await pets.add(samplePet());
      assert.ok((await transfer.survey()).lastId >= pet.id);
      await transfer.reserveIds(2n ** 53n + 1n);
      assert.ok((await transfer.survey()).lastId >= 2n ** 53n + 1n);
    },
  },
];
