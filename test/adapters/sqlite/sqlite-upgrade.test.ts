import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { restoreSqliteStore } from '../../../src/adapters/sqlite/sqlite-backup.js';
import { SCHEMA_VERSION, upgradeSchema } from '../../../src/adapters/sqlite/schema.js';
import {
  allPets,
  OLD_KEYS,
  change,
  claimOn,
  cleanUp,
  expectStoreFileError,
  intercept,
  makeOldStore,
  modeOf,
  queried,
  rex,
  stateOf,
  testFile,
  testStore,
  type TestStore,
} from './temporary-store.js';

const versionOf = (file: string): unknown => queried(file, 'PRAGMA user_version');

/** The folders of copies that upgrades from version 2 kept. */
const copiesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.includes('version-2'));

describe('openSqliteStore of an older version', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    ({ folder, file } = testFile());
  });
  afterEach(cleanUp);

  for (const version of [1, 2]) {
    describe(`upgrades version ${version}:`, () => {
      let store: TestStore;
      beforeEach(async () => {
        makeOldStore(file, version);
        store = await testStore(file);
      });

      it('animals and live claims stay, except claims that can no longer be sent', async () => {
        for (const [index, key] of OLD_KEYS.entries()) {
          const pet = { id: BigInt(index + 1), ...rex };
          const outcome = await store.pets.addOnce(rex, ...claimOn(key));
          expect(outcome, key).to.deep.equal({ pet, replayed: true });
          expect(await store.pets.findById(pet.id)).to.deep.equal(pet);
        }
        const claims = await store.transfer.readClaims({ limit: 99, now: 0 });
        expect(claims.map(({ key }) => key)).to.have.members(OLD_KEYS);
      });

      it('ids that were assigned are not assigned again', async () => {
        const survey = await store.transfer.survey();
        expect(survey).to.deep.equal({ pets: OLD_KEYS.length + 2, lastId: 99n });
        expect((await store.pets.add(rex)).id).to.equal(100n);
      });

      it('API keys stay, whatever they are called', async () => {
        const createdAt = 1_700_000_000_123;
        expect(await store.apiKeys.findById('k')).to.deep.equal({
          id: 'k',
          name: 'say "hi"',
          hash: 'ab'.repeat(32),
          scopes: ['pets:read', 'pets:groom'],
          createdAt,
          expiresAt: 5,
          revokedAt: 6,
        });
        const named = await store.apiKeys.findById('l');
        expect(named).to.deep.include({ hash: 'cd'.repeat(32), scopes: ['pets:read'], createdAt });
        expect(named?.name).to.match(/^a\ufffdb\ufffd+$/);
      });

      it('the schema is the newest, without tables of the old one', async () => {
        const names = "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'table'";
        const tables = String(queried(file, names)).split(',');
        expect(tables).to.have.members([
          'api_keys',
          'claims',
          'pets',
          'sqlite_sequence',
          'sqlite_stat1',
        ]);
        expect(versionOf(file)).to.equal(SCHEMA_VERSION);
      });
    });
  }

  it('upgrades once although another process upgrades between its look and its lock, and marks the version in that commit', async () => {
    makeOldStore(file, 1);
    const seen = new Set<unknown>();
    let executed = '';
    const end = intercept('exec', (sql) => {
      if (executed.includes('COMMIT')) seen.add(versionOf(file));
      const isFirst = sql === 'BEGIN IMMEDIATE' && !executed.includes(sql);
      executed += sql;
      if (!isFirst) return;
      using other = new DatabaseSync(file);
      upgradeSchema(other, file, () => {});
    });

    const { pets } = await testStore(file).finally(end);

    expect(await allPets(pets)).to.have.length(OLD_KEYS.length + 2);
    expect([...seen], 'versions after the first commit').to.deep.equal([SCHEMA_VERSION]);
  });

  it('upgrades wholly or not at all: a step that fails leaves the file untouched', async () => {
    makeOldStore(file, 2);
    change(file, "UPDATE api_keys SET name = 'not quoted'");
    const before = await stateOf(folder);

    await expectStoreFileError(openSqliteStore(file), /cannot be used \(malformed JSON\)/);

    expect(await stateOf(folder)).to.deep.equal(before);
    expect(await readdir(folder)).to.deep.equal(['animals.db']);
  });

  it('keeps a copy of the file beside it, with all that was committed, which restore takes, and says where', async () => {
    makeOldStore(file, 2);
    const old = new DatabaseSync(file);
    old.exec('PRAGMA journal_mode = WAL; UPDATE pets SET category_id = 8 WHERE id = 1'); // in the log only
    const notices: string[] = [];

    const { pets, close } = await testStore(file, { onNotice: (line) => void notices.push(line) });

    old.close();
    const copies = await copiesIn(folder);
    expect(copies, 'folders of copies').to.have.length(1);
    const copied = join(folder, String(copies[0]));
    const copy = join(copied, 'animals.db');
    expect(notices, 'notices').to.have.length(1);
    expect(notices.join()).to.include('from schema version 2');
    expect(notices.join()).to.include(`A copy for them is ${copy}`);
    expect(versionOf(copy)).to.equal(2);
    expect(queried(copy, 'SELECT category_id FROM pets WHERE id = 1')).to.equal(8);
    expect(await modeOf(copied)).to.equal('700');
    expect(await modeOf(copy)).to.equal('600');

    await pets.add(rex);
    await close();
    await restoreSqliteStore(file, copy);

    expect(versionOf(file), 'version of the restored store').to.equal(2);
    await testStore(file); // a second upgrade needs a place of its own
    expect(await copiesIn(folder)).to.have.length(2);
    expect(versionOf(copy), 'version of the first copy').to.equal(2);
  });

  it('says that it upgrades before it does, not that it creates, and goes on if the listener fails', async () => {
    makeOldStore(file, 2);
    const versions: unknown[] = [];
    const onNotice = (): void => {
      versions.push(versionOf(file));
      throw new Error('a listener that fails');
    };

    await testStore(`${file}.new`, { onNotice });
    await testStore(file, { onNotice });

    expect(versions, 'versions at each notice').to.deep.equal([2]);
    expect(versionOf(file)).to.equal(SCHEMA_VERSION);
  });

  for (const isRunning of [false, true]) {
    it(`refuses an older version to readers in one line${isRunning ? ', also beside its program,' : ''} and changes nothing`, async () => {
      makeOldStore(file, 1);
      const old = new DatabaseSync(file);
      if (isRunning) old.exec('UPDATE pets SET category_id = 8 WHERE id = 1');
      else old.close();
      const before = await stateOf(folder);

      const reading = openSqliteStore(file, { mode: 'read' });

      const problem = /has schema version 1, and reading does not upgrade it: use the/;
      await expectStoreFileError(reading, problem);
      expect(await stateOf(folder)).to.deep.equal(before);
      if (isRunning) old.close();
    });
  }
});
