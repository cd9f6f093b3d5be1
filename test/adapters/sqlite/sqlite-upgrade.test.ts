import { expect } from 'chai';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { restoreSqliteStore } from '../../../src/adapters/sqlite/sqlite-backup.js';
import { SCHEMA_VERSION, upgradeSchema } from '../../../src/adapters/sqlite/schema.js';
import {
  OLD_KEYS,
  change,
  claimOn,
  cleanUp,
  expectStoreFileError,
  intercept,
  makeOldStore,
  queried,
  rex,
  stateOf,
  testFile,
  testStore,
} from './temporary-store.js';

const versionOf = (file: string): unknown => queried(file, 'PRAGMA user_version');

describe('openSqliteStore of an older version', () => {
  afterEach(cleanUp);

  for (const version of [1, 2]) {
    it(`upgrades version ${version}: animals, live claims, API keys and assigned ids stay`, async () => {
      const { file } = testFile();
      makeOldStore(file, version);
      const store = await openSqliteStore(file);
      for (const [index, key] of OLD_KEYS.entries()) {
        const pet = { id: BigInt(index + 1), ...rex };
        expect(await store.pets.addOnce(rex, ...claimOn(key)), key).to.deep.equal({
          pet,
          replayed: true,
        });
        expect(await store.pets.findById(pet.id)).to.deep.equal(pet);
      }
      expect(await store.transfer.survey()).to.deep.equal({
        pets: OLD_KEYS.length + 2,
        lastId: 99n,
      });
      expect((await store.pets.add(rex)).id).to.equal(100n);
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
      const claims = await store.transfer.readClaims({ limit: 99, now: 0 });
      expect(claims.map(({ key }) => key)).to.have.members(OLD_KEYS); // the others cannot be sent again
      await store.close();
      using database = new DatabaseSync(file);
      const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
      const names = 'pets claims api_keys sqlite_sequence sqlite_stat1'.split(' ');
      expect(tables.map(({ name }) => name)).to.have.members(names);
      expect(versionOf(file)).to.equal(SCHEMA_VERSION);
    });
  }

  it('upgrades once although another process upgrades between its look and its lock, and marks the version in that commit', async () => {
    const { file } = testFile();
    makeOldStore(file, 1);
    const seen = new Set<unknown>();
    let executed = '';
    const end = intercept('exec', (sql) => {
      if (executed.includes('COMMIT')) seen.add(versionOf(file));
      const isFirst = sql === 'BEGIN IMMEDIATE' && !executed.includes(sql);
      executed += sql;
      if (!isFirst) return;
      const other = new DatabaseSync(file);
      upgradeSchema(other, file, () => {});
      other.close();
    });
    const { pets } = await testStore(file).finally(end);
    expect(await pets.list({ limit: 99 })).to.have.length(OLD_KEYS.length + 2);
    expect([...seen]).to.deep.equal([SCHEMA_VERSION]);
  });

  it('upgrades wholly or not at all: a step that fails leaves the file untouched', async () => {
    const { folder, file } = testFile();
    makeOldStore(file, 2);
    change(file, "UPDATE api_keys SET name = 'not quoted'");
    const before = await stateOf(folder);
    await expectStoreFileError(openSqliteStore(file), /cannot be used \(malformed JSON\)/);
    expect(await stateOf(folder)).to.deep.equal(before);
    expect(await readdir(folder)).to.deep.equal(['animals.db']);
  });

  it('keeps a copy of the file beside it, with all that was committed, which restore takes, and says where', async () => {
    const { folder, file } = testFile();
    makeOldStore(file, 2);
    const old = new DatabaseSync(file);
    old.exec('PRAGMA journal_mode = WAL; UPDATE pets SET category_id = 8 WHERE id = 1'); // in the log only
    const notices: string[] = [];
    const store = await openSqliteStore(file, { onNotice: (line) => void notices.push(line) });
    old.close();
    await store.pets.add(rex);
    await store.close();
    const copied = (await readdir(folder)).find((name) => name.includes('version-2')) ?? '';
    const copy = join(folder, copied, 'animals.db');
    expect(notices).to.have.length(1);
    expect(notices[0])
      .to.include('from schema version 2')
      .and.include(`A copy for them is ${copy}`);
    expect(versionOf(copy)).to.equal(2);
    expect(queried(copy, 'SELECT category_id FROM pets WHERE id = 1')).to.equal(8);
    for (const [path, mode] of [
      [join(folder, copied), 0o700],
      [copy, 0o600],
    ] as const)
      expect((await stat(path)).mode & 0o777, path).to.equal(mode);
    await restoreSqliteStore(file, copy);
    expect(versionOf(file)).to.equal(2);
    await (await openSqliteStore(file)).close(); // a second upgrade needs a place of its own
    expect((await readdir(folder)).filter((name) => name.includes('version-2'))).to.have.length(2);
    expect(versionOf(copy)).to.equal(2);
  });

  it('says that it upgrades before it does, not that it creates, and goes on if the listener fails', async () => {
    const { file } = testFile();
    makeOldStore(file, 2);
    const versions: unknown[] = [];
    const onNotice = (): void => {
      versions.push(versionOf(file));
      throw new Error('a listener that fails');
    };
    for (const each of [`${file}.new`, file])
      await (await openSqliteStore(each, { onNotice })).close();
    expect([...versions, versionOf(file)]).to.deep.equal([2, SCHEMA_VERSION]);
  });

  it('refuses an older version to readers in one line, also beside its program, and changes nothing', async () => {
    const { folder, file } = testFile();
    makeOldStore(file, 1);
    for (const running of [false, true]) {
      const old = new DatabaseSync(file);
      if (running) old.exec('UPDATE pets SET category_id = 8 WHERE id = 1');
      else old.close();
      const before = await stateOf(folder);
      const reading = openSqliteStore(file, { mode: 'read' });
      await expectStoreFileError(
        reading,
        /has schema version 1, and reading does not upgrade it: use the/,
      );
      expect(await stateOf(folder)).to.deep.equal(before);
      if (running) old.close();
    }
  });
});
