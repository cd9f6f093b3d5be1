import { assert } from '../assert.js';
import { addKeys, sampleKey } from '../api-key-repository/subject.js';
import { sampleClaim } from '../pet-repository/claiming.js';
import { samplePet, times } from '../samples.js';
import {
  petsWithIds,
  readAllClaims,
  readAllPets,
  write,
  type CatalogueTransferCase,
  type CatalogueTransferSubject,
} from './subject.js';

const CHANGES: Readonly<Record<string, (subject: CatalogueTransferSubject) => Promise<unknown>>> = {
  'an animal is added': ({ pets }) => pets.add(samplePet()),
  'an animal is added with a claim': ({ pets }) => pets.add(samplePet(), { claim: sampleClaim() }),
  'an animal below the others is written': ({ transfer }) => transfer.writePets(petsWithIds(3n)),
  'a key is added': ({ keys }) => keys.add(sampleKey({ id: 'k2' })),
  'a key is changed': ({ keys }) => keys.update('k1', (key) => ({ ...key, revokedAt: new Date(5) })),
  'a key is written': ({ transfer }) => transfer.writeApiKeys([sampleKey({ id: 'k2' })]),
};

async function fill({ transfer, keys }: CatalogueTransferSubject): Promise<void> {
  await write(transfer, petsWithIds(5n, 6n));
  await addKeys(keys, [sampleKey()]);
}

export const surveyingCases: readonly CatalogueTransferCase[] = [
  {
    name: 'calls a new store empty, also when ids are reserved',
    async run({ transfer }) {
      assert.equal((await transfer.survey()).empty, true);
      await transfer.reserveIds(50n);
      const { empty, pets } = await transfer.survey();
      assert.deepEqual({ empty, pets }, { empty: true, pets: 0 });
    },
  },
  {
    name: 'calls a store with an animal not empty',
    async run({ transfer, pets }) {
      await pets.add(samplePet());
      assert.equal((await transfer.survey()).empty, false);
    },
  },
  {
    name: 'calls a store with a key alone not empty',
    async run({ transfer, keys }) {
      await addKeys(keys, [sampleKey()]);
      assert.equal((await transfer.survey()).empty, false);
    },
  },
  {
    name: 'counts the animals',
    async run({ transfer, pets }) {
      await write(transfer, petsWithIds(...times(30, (number) => BigInt(3 * number))));
      await pets.add(samplePet());
      assert.equal((await transfer.survey()).pets, 31);
    },
  },
  {
    name: 'keeps the revision while the store is only read',
    async run(subject) {
      const { transfer, pets, keys } = subject;
      await fill(subject);
      const { revision } = await transfer.survey();
      await Promise.all([
        readAllPets(transfer),
        readAllClaims(transfer, new Date()),
        transfer.readApiKeys(),
        pets.list({ limit: 10 }),
        keys.list(),
        pets.check(),
      ]);
      assert.equal((await transfer.survey()).revision, revision);
    },
  },
  ...Object.entries(CHANGES).map(([what, change]): CatalogueTransferCase => ({
    name: `has another revision when ${what}`,
    async run(subject) {
      await fill(subject);
      const { revision } = await subject.transfer.survey();
      await change(subject);
      assert.notEqual((await subject.transfer.survey()).revision, revision);
    },
  })),
];
