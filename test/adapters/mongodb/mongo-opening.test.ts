import { expect } from 'chai';
import type { Pet } from '../../../src/domain/pet.js';
import { rejectionOf, checkRejectsWithCode } from '../../contract/rejection.js';
import { claimed } from '../../contract/samples.js';
import { describeOnMongo, inDatabase, uriOf } from './mongo-server.js';
import { closeAll, open, rex } from './test-store.js';

/** The modes in which no store is created. */
const EXISTING = ['existing', 'read'] as const;

describeOnMongo('Opening a MongoDB store', (server) => {
  afterEach(closeAll);

  /** A case with the URL of a database in which there is no store. */
  const withUrl = (test: (url: string) => Promise<void>) =>
    inDatabase(server, (database) => test(uriOf(server, database)));

  /** A case with the URL of a store that holds one animal. */
  const withStore = (test: (url: string, pet: Pet) => Promise<void>) =>
    withUrl(async (url) => {
      const store = await open(url);
      const pet = await store.pets.add(rex);
      await store.close();
      await test(url, pet);
    });

  it(
    'rejects in one line if a store must exist and none does, and creates none',
    withUrl(async (url) => {
      for (const mode of [...EXISTING, ...EXISTING]) {
        const error = await rejectionOf(open(url, { mode }));
        expect(error, mode).to.include({ isPermanent: true });
        expect((error as Error).message, mode).to.match(/^The .* holds no animal store\.$/);
      }
    }),
  );

  it(
    'succeeds if a store must exist and holds an animal',
    withStore(async (url, pet) => {
      for (const mode of EXISTING) {
        const { pets } = await open(url, { mode });
        expect(await pets.findById(pet.id), mode).to.deep.equal(pet);
      }
    }),
  );

  it(
    'for reading refuses writes but still reads',
    withStore(async (url, pet) => {
      const { pets } = await open(url, { mode: 'read' });
      await checkRejectsWithCode(pets.add(rex), 'service_unavailable');
      await checkRejectsWithCode(pets.addOnce(rex, ...claimed()), 'service_unavailable');
      for (const store of [{ pets }, await open(url)])
        expect(await store.pets.list({ limit: 5 })).to.deep.equal([pet]);
    }),
  );
});
