import { expect } from 'chai';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { backUpSqliteStore, restoreSqliteStore } from '../../../src/adapters/sqlite/index.js';
import {
  cleanUp,
  closedStore,
  connect,
  countOf,
  inOtherProcess,
  modesOf,
  open,
  refused,
  rex,
  testFile,
  testFolder,
} from './test-store.js';

function refuse(): never {
  throw Object.assign(new Error('not supported'), { code: 'EPERM', syscall: 'share' });
}

describe('A backup of an SQLite store', () => {
  afterEach(cleanUp);

  it('is one file for its owner alone, which opens with the same animals, claims, keys and ids', async () => {
    const { pets, changes, apiKeys, location } = await open(testFile());
    const claim = { scope: 's', key: 'k', fingerprint: 'f', keepUntil: 5 };
    const apiKey = { id: 'k', name: 'k', hash: 'h', scopes: [], createdAt: 1 };
    const { pet } = await pets.addOnce(rex, claim, 1);
    await apiKeys.add(apiKey);
    await pets.add(rex);
    await changes.remove(2n, undefined);
    const backup = testFile();

    expect(await backUpSqliteStore(location, backup)).to.equal(1);

    expect(fs.readdirSync(dirname(backup))).to.deep.equal(['animals.db']);
    expect(modesOf(backup)).to.deep.equal(['600']);
    const copy = await open(backup);
    expect(await copy.pets.addOnce(rex, claim, 2)).to.deep.equal({ pet, replayed: true });
    expect(await copy.apiKeys.list()).to.deep.equal([apiKey]);
    expect((await copy.pets.add(rex)).id).to.equal(3n);
  });

  it('holds one moment of a store, while another process keeps writing to it', async () => {
    const file = testFile();
    const store = await open(file);
    const writing = inOtherProcess(
      file,
      `const { pets } = await openSqliteStore(file);
      for (let count = 0; count < 300; count += 1) console.log((await pets.add(rex)).id);`,
    );
    for (let counted = 0; counted < 300; counted = await countOf(store)) {
      const backup = testFile();
      const pets = await backUpSqliteStore(file, backup);
      expect(pets).to.be.at.least(counted);
      const copied = await (await open(backup)).pets.list({ limit: 999 });
      const ids = Array.from({ length: pets }, (_, index) => BigInt(index + 1));
      expect(copied.map(({ id }) => id)).to.deep.equal(ids);
    }
    expect((await writing).trim().split('\n')).to.have.length(300);
  });

  it('succeeds on a share that syncs no folder, links no file and changes no permission', async () => {
    const file = await closedStore();
    const backup = testFile();
    const { fsyncSync, linkSync, chmodSync, fchmodSync } = fs;
    const originals = { fsyncSync, linkSync, chmodSync, fchmodSync };
    try {
      for (const name of Object.keys(originals)) Object.assign(fs, { [name]: refuse });
      syncBuiltinESMExports();
      expect(await backUpSqliteStore(file, backup)).to.equal(3);
    } finally {
      Object.assign(fs, originals);
      syncBuiltinESMExports();
    }
    expect(fs.readdirSync(dirname(backup))).to.deep.equal(['animals.db']);
    expect(await countOf(await open(backup))).to.equal(3);
  });

  it('is refused for a store that is damaged or missing, and leaves no file', async () => {
    const file = await closedStore();
    const backup = testFile();
    await refused(backUpSqliteStore(`${file}.none`, backup), 'none does not exist');
    await refused(
      backUpSqliteStore(file, join(backup, 'x.db')),
      'cannot be copied to .*ENOENT',
      false,
    );
    connect(file, "PRAGMA ignore_check_constraints = ON; UPDATE pets SET status = ''").close();
    await refused(backUpSqliteStore(file, backup), 'animals.db is damaged .*: restore a backup');
    expect(fs.readdirSync(dirname(backup))).to.deep.equal([]);
  });
});

describe('Restoring an SQLite store', () => {
  afterEach(cleanUp);

  it('copies a backup to a new folder for its owner alone', async () => {
    const backup = await closedStore();
    const folder = join(testFolder(), 'new', 'deep');
    const file = join(folder, 'animals.db');

    expect(await restoreSqliteStore(file, backup)).to.equal(3);

    expect(modesOf(dirname(folder), folder, file)).to.deep.equal(['700', '700', '600']);
    expect(await countOf(await open(file))).to.equal(3);
    expect(await countOf(await open(backup))).to.equal(3);
  });

  it('refuses a target of which any file exists, and names all three', async () => {
    const backup = await closedStore();
    for (const suffix of ['', '-wal', '-shm']) {
      const file = testFile();
      fs.writeFileSync(file + suffix, 'animals');
      const message = `${file} exists: stop its services, then move it, ${file}-wal and ${file}-shm away`;
      await refused(restoreSqliteStore(file, backup), message);
      expect(fs.readFileSync(file + suffix, 'utf8')).to.equal('animals');
    }
  });

  it('refuses a source with a log or journal beside it that is not empty', async () => {
    const backup = await closedStore();
    for (const beside of [`${backup}-wal`, `${backup}-journal`]) {
      const file = testFile();
      fs.writeFileSync(beside, 'animals');
      await refused(restoreSqliteStore(file, backup), `because ${beside} is not empty`);
      fs.writeFileSync(beside, '');
      expect(await restoreSqliteStore(file, backup)).to.equal(3);
    }
  });
});
