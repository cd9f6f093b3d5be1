import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { StoreFileError } from '../../../src/adapters/sqlite/store-file-error.js';
import { savedPet } from '../../../src/domain/pet.js';
import { times } from '../../contract/samples.js';
import { inFolder, onStore, rejection, rex } from './temporary-store.js';

describe('SqliteCatalogueTransfer', () => {
  it(
    'lets the rest of the process have its turn between batches that are read',
    onStore(async ({ transfer }) => {
      await transfer.writePets(times(50, (number) => savedPet(BigInt(number), rex)));
      let turns = 0;
      const turn = (): void => {
        turns += 1;
        immediate = setImmediate(turn);
      };
      let immediate = setImmediate(turn);
      for (let after = 0n; after < 50n; after += 1n) await transfer.readPets({ after, limit: 1 });
      clearImmediate(immediate);
      expect(turns).to.be.greaterThan(25);
    }),
  );

  it(
    'keeps a batch wholly or not at all',
    onStore(async ({ transfer, pets }) => {
      const bad = { ...savedPet(2n, rex), status: 'lost' } as unknown as ReturnType<typeof savedPet>;
      const error = await rejection(transfer.writePets([savedPet(1n, rex), bad, savedPet(3n, rex)]));
      expect(error).to.have.property('code', 'service_unavailable');
      expect(await pets.list({ limit: 10 })).to.deep.equal([]);
    }),
  );

  it(
    'leaves one record of how far the ids went, whoever reserves them, and in whatever order',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const [one, other] = [await openSqliteStore(file), await openSqliteStore(file)];
      await Promise.all([one.transfer.reserveIds(5n), other.transfer.reserveIds(9n), one.pets.add(rex)]);
      await one.transfer.reserveIds(7n);
      await Promise.all([one.close(), other.close()]);
      const database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare(`SELECT name || ' ' || (seq >= 9) AS line FROM sqlite_sequence`).all();
      database.close();
      expect(rows.map(({ line }) => line)).to.deep.equal(['pets 1']);
    }),
  );

  it(
    'is closed with its store, and so is the file',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const store = await openSqliteStore(file);
      const { transfer } = store;
      await transfer.reserveIds(1n);
      expect(existsSync(`${file}-wal`)).to.equal(true);
      await store.close();
      expect(existsSync(`${file}-wal`)).to.equal(false);
      expect(await rejection(transfer.survey())).to.have.property('code', 'service_unavailable');
    }),
  );

  it(
    'does not keep a store open that was never to be moved: it ends with its repositories',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const { pets, apiKeys } = await openSqliteStore(file);
      await pets.add(rex);
      await Promise.all([pets.close(), apiKeys.close()]);
      expect(existsSync(`${file}-wal`)).to.equal(false);
    }),
  );
});

describe('openSqliteStore of a store that must exist', () => {
  it(
    'refuses a file that is not there, and makes neither it nor its folder',
    inFolder(async (folder) => {
      const file = join(folder, 'none', 'animals.db');
      const error = await rejection(openSqliteStore(file, { mustExist: true }));
      expect(error).to.be.instanceOf(StoreFileError);
      expect(error).to.have.property('message', `${file} is not there: name the file of a store.`);
      expect(existsSync(join(folder, 'none'))).to.equal(false);
    }),
  );

  it(
    'opens one that is there',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      await (await openSqliteStore(file)).close();
      const store = await openSqliteStore(file, { mustExist: true });
      await store.pets.add(rex);
      await store.close();
    }),
  );
});
