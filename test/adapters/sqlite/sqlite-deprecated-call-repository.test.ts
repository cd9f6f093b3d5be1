import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { openSqliteConnection } from '../../../src/adapters/sqlite/open-sqlite-connection.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.js';
import { SqliteApiKeyRepository } from '../../../src/adapters/sqlite/sqlite-api-key-repository.js';
import { SqlitePetRepository } from '../../../src/adapters/sqlite/sqlite-pet-repository.js';
import { DEPRECATED_CALL_SQL } from '../../../src/adapters/sqlite/sqlite-deprecated-call-repository.js';
import type { DeprecatedCalls } from '../../../src/application/ports/deprecated-call-repository.js';
import { StoreUnavailableError } from '../../../src/domain/errors.js';
import { claimOn, inFolder, onStore, rejection, rex } from './temporary-store.js';

const counted = (keyId: string): DeprecatedCalls => ({
  day: '2026-11-20',
  operationId: 'getPet',
  keyId,
  calls: 2,
  lastAt: new Date(1_700_000_000_123),
});

const KEY = {
  id: 'k',
  name: 'till',
  hash: 'ab'.repeat(32),
  scopes: ['pets:read'],
  createdAt: new Date(1_700_000_000_123),
} as const;

function versionOf(file: string): unknown {
  const database = new DatabaseSync(file);
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  database.close();
  return version;
}

describe('SqliteDeprecatedCallRepository', () => {
  it(
    'comes to a store of schema version 1, which keeps its animals, claims, ids and keys',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const old = await openSqliteConnection(file, { migrations: MIGRATIONS.slice(0, 1) });
      const [oldPets, oldKeys] = [new SqlitePetRepository(old), new SqliteApiKeyRepository(old)];
      const first = await oldPets.add(rex);
      const claimed = await oldPets.add({ ...rex, name: 'Bella' }, { claim: claimOn('t') });
      await oldKeys.add(KEY);
      await Promise.all([oldPets.close(), oldKeys.close()]);
      expect(versionOf(file)).to.equal(1);

      const store = await openSqliteStore(file);
      expect(await store.deprecatedCalls.list()).to.deep.equal([]);
      await store.deprecatedCalls.record({ id: 'b', counts: [counted('k')] });
      expect(await store.deprecatedCalls.list()).to.deep.equal([counted('k')]);
      expect(await store.pets.list({ limit: 5 })).to.deep.equal([first.pet, claimed.pet]);
      expect(await store.pets.add({ ...rex, name: 'Bella' }, { claim: claimOn('t') })).to.deep.equal({
        pet: claimed.pet,
        replayed: true,
      });
      expect(await store.apiKeys.list()).to.deep.equal([KEY]);
      expect((await store.pets.add(rex)).pet.id).to.equal(3n);
      await store.close();
      expect(versionOf(file)).to.equal(MIGRATIONS.length);
    }),
  );

  it(
    'loses no count of two processes that count in the same file at once',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const counting = fileURLToPath(new URL('./counting-process.js', import.meta.url));
      const processes = [1, 2].map(() => fork(counting, [file, '200'], { stdio: 'inherit' }));
      const codes = await Promise.all(
        processes.map(async (process) => (await once(process, 'exit'))[0] as unknown),
      );
      expect(codes).to.deep.equal([0, 0]);
      const store = await openSqliteStore(file);
      const calls = new Map(
        (await store.deprecatedCalls.list()).map((counts) => [counts.keyId, counts.calls]),
      );
      await store.close();
      expect(calls).to.deep.equal(
        new Map([['of both', 400], ...processes.map(({ pid }) => [`of ${pid}`, 200] as const)]),
      );
    }),
  );

  it(
    'keeps a store open only once it was asked for, and until it is closed too',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const store = await openSqliteStore(file);
      const counts = store.deprecatedCalls;
      expect(store.deprecatedCalls).to.equal(counts);
      await Promise.all([store.pets.close(), store.apiKeys.close()]);
      await counts.record({ id: 'b', counts: [counted('k')] });
      expect(await counts.list()).to.deep.equal([counted('k')]);
      expect(existsSync(`${file}-wal`)).to.equal(true);
      await store.close();
      expect(existsSync(`${file}-wal`)).to.equal(false);
    }),
  );

  it(
    'adds a batch wholly or not at all',
    onStore(async ({ file, deprecatedCalls }) => {
      const fault = new DatabaseSync(file);
      fault.exec(`CREATE TRIGGER fault BEFORE INSERT ON deprecated_calls WHEN NEW.key_id = '"b"'
        BEGIN SELECT RAISE(ABORT, 'no more'); END`);
      const batch = { id: 'x', counts: ['a', 'b', 'c'].map(counted) };
      expect(await rejection(deprecatedCalls.record(batch))).to.be.instanceOf(StoreUnavailableError);
      expect(await deprecatedCalls.list()).to.deep.equal([]);
      fault.exec('DROP TRIGGER fault');
      fault.close();
      await deprecatedCalls.record(batch);
      expect(await deprecatedCalls.list()).to.deep.equal(batch.counts);
    }),
  );

  it(
    'finds the days asked for by one stretch of its index',
    onStore(async ({ file }) => {
      const database = new DatabaseSync(file);
      const [plan] = database.prepare(`EXPLAIN QUERY PLAN ${DEPRECATED_CALL_SQL.list}`).all('2026-11-01');
      expect(plan?.['detail']).to.equal('SEARCH deprecated_calls USING PRIMARY KEY (day>?)');
      database.close();
    }),
  );
});
