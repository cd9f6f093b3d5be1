import { expect } from 'chai';
import { link, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { backUpSqliteStore } from '../../../src/adapters/sqlite/back-up-sqlite-store.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { readPragma } from '../../../src/adapters/sqlite/schema.js';
import { StoreFileError } from '../../../src/adapters/sqlite/store-file.js';
import { copyAsCrashed, inFolder, onStore, rejection, rex } from './temporary-store.js';

/** How many animals a file holds. Changes nothing beside it. */
function petsIn(file: string): bigint {
  const database = new DatabaseSync(file, { readOnly: true });
  const statement = database.prepare('SELECT count(*) AS pets FROM pets');
  statement.setReadBigInts(true);
  const pets = statement.get()?.['pets'] as bigint;
  database.close();
  return pets;
}

const pragmaOf = (file: string, name: string): unknown => {
  const database = new DatabaseSync(file);
  const value = readPragma(database, name);
  database.close();
  return value;
};

describe('backUpSqliteStore', () => {
  it(
    'copies a store as of one instant while writers write, and does not start again because of them',
    onStore(async ({ pets, file, connection }) => {
      connection.exec('PRAGMA wal_autocheckpoint = 0'); // pages come from the log too
      const long = { ...rex, name: 'R'.repeat(1000) };
      await Promise.all(Array.from({ length: 20_000 }, () => pets.add(long)));
      const writing = new AbortController();
      let acknowledged = 20_000n;
      const writer = (async () => {
        for (; !writing.signal.aborted && acknowledged < 30_000n; acknowledged += 2n) {
          await Promise.all([pets.add(rex), pets.add(rex)]); // one transaction
          await setImmediate();
        }
      })();
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      const before = acknowledged;
      const steps: number[] = [];
      const onProgress = (done: number): void => {
        if (steps.push(done) > 100) throw new Error('it starts again and again');
      };
      const backup = backUpSqliteStore(file, `${file}.backup`, { onProgress });
      const { pets: copied } = await backup.finally(() => writing.abort());
      await writer;
      expect(acknowledged > before, 'written meanwhile').to.equal(true);
      expect(BigInt(copied) >= before, 'all that was acknowledged before').to.equal(true);
      expect(petsIn(`${file}.backup`)).to.equal(BigInt(copied));
      expect(copied % 2, 'no half transaction').to.equal(0);
      expect(steps).to.deep.equal([...steps].sort((one, other) => one - other));
      expect(steps).to.have.length.greaterThan(3);
    }),
  );

  it(
    'leaves a single file that only its owner can read, and tells what is in it',
    onStore(async ({ pets, file }) => {
      await pets.add(rex);
      const folder = join(file, '../backups');
      await mkdir(folder);
      const target = join(folder, 'a.db');
      const backup = await backUpSqliteStore(file, target);
      const { mode, size } = await stat(target);
      expect((mode & 0o777).toString(8)).to.equal('600');
      expect(backup).to.deep.equal({ store: file, file: target, bytes: size, pets: 1 });
      expect(petsIn(target)).to.equal(1n);
      expect(await readdir(folder), 'no log: it opens on a disk that is read-only').to.deep.equal(['a.db']);
    }),
  );

  it(
    'keeps as many backups as told, the newest under the name itself',
    onStore(async ({ pets, file }) => {
      const target = `${file}.backup`;
      const kept = async (): Promise<string[]> => {
        const names = (await readdir(join(file, '..'))).filter((name) => name.includes('.backup'));
        return names.map((name) => `${name.replace(/.*backup/, '')}=${petsIn(join(file, '..', name))}`);
      };
      for (let count = 1; count <= 4; count += 1) {
        await pets.add(rex);
        await backUpSqliteStore(file, target, { keep: 3 });
      }
      expect(await kept()).to.deep.equal(['=4', '.1=3', '.2=2']);
      await backUpSqliteStore(file, target, { keep: 1 });
      expect(await kept()).to.deep.equal(['=4', '.1=3', '.2=2']);
    }),
  );

  it(
    'backs up what a crash left in the log, and leaves the log as it is',
    onStore(async ({ pets, file }) => {
      await pets.add(rex);
      const crashed = `${file}.crashed`;
      await copyAsCrashed(file, crashed, ['', '-wal']);
      const before = await readFile(`${crashed}-wal`);
      expect(await backUpSqliteStore(crashed, `${file}.backup`)).to.include({ pets: 1 });
      expect(before.equals(await readFile(`${crashed}-wal`))).to.equal(true);
    }),
  );

  it(
    'upgrades neither the store nor the backup: it may be made before an upgrade',
    inFolder(async (folder) => {
      const file = join(folder, 'a.db');
      await (await openSqliteStore(file)).close();
      const database = new DatabaseSync(file);
      database.exec('PRAGMA user_version = 2');
      database.close();
      await backUpSqliteStore(file, join(folder, 'b.db'));
      expect([pragmaOf(file, 'user_version'), pragmaOf(join(folder, 'b.db'), 'user_version')]).to.deep.equal([
        2, 2,
      ]);
    }),
  );

  it(
    'stops when it is aborted, and leaves nothing',
    onStore(async ({ pets, file }) => {
      const long = { ...rex, name: 'R'.repeat(1000) };
      await Promise.all(Array.from({ length: 5000 }, () => pets.add(long)));
      const before = await readdir(join(file, '..'));
      const stop = new AbortController();
      const reason = new Error('enough');
      const onProgress = (): void => stop.abort(reason);
      const backup = backUpSqliteStore(file, `${file}.backup`, { signal: stop.signal, onProgress });
      expect(await rejection(backup)).to.equal(reason);
      expect(await readdir(join(file, '..'))).to.deep.equal(before);
    }),
  );

  describe('refuses in one line, and changes no file,', () => {
    type Prepare = (
      store: string,
      folder: string,
    ) => Promise<string | { target: string; store?: string; keep?: number }>;
    const refusals: Record<string, readonly [Prepare, RegExp]> = {
      'a target that exists, without keep': [
        async (_, folder) => {
          await writeFile(join(folder, 'b.db'), 'an earlier backup');
          return join(folder, 'b.db');
        },
        /b\.db exists: name another file, or use --keep/,
      ],
      'the store itself': [async (store) => ({ target: store, keep: 2 }), /a\.db is a store, not a backup/],
      'the store, by another name': [
        async (store, folder) => {
          await link(store, join(folder, 'b.db'));
          return { target: join(folder, 'b.db'), keep: 2 };
        },
        /b\.db is a store/,
      ],
      'another store in use, behind a link that would be renamed': [
        async (_, folder) => {
          await writeFile(join(folder, 'other.db'), '');
          await writeFile(join(folder, 'other.db-wal'), '');
          await symlink('other.db', join(folder, 'b.db.1'));
          return { target: join(folder, 'b.db'), keep: 2 };
        },
        /b\.db\.1 is a store/,
      ],
      'a folder': [
        async (_, folder) => {
          await mkdir(join(folder, 'b.db'));
          return { target: join(folder, 'b.db'), keep: 2 };
        },
        /b\.db is not a regular file/,
      ],
      'the name of a log': [async (store) => `${store}-wal`, /a\.db-wal has a name that SQLite uses/],
      'a folder that does not exist': [
        async (_, folder) => join(folder, 'none', 'b.db'),
        /a\.db was not backed up to .*none\/b\.db \(ENOENT/,
      ],
      'a store that does not exist': [
        async (_, folder) => ({ store: join(folder, 'none.db'), target: join(folder, 'b.db') }),
        /none\.db does not exist/,
      ],
      'the database of another program': [
        async (_, folder) => {
          new DatabaseSync(join(folder, 'other.db')).close();
          return { store: join(folder, 'other.db'), target: join(folder, 'b.db') };
        },
        /other\.db is the SQLite database of another program/,
      ],
      'a store whose copy proves damaged, with an earlier backup in place': [
        async (store, folder) => {
          await backUpSqliteStore(store, join(folder, 'b.db'));
          const database = new DatabaseSync(store);
          database.exec("PRAGMA ignore_check_constraints = ON; UPDATE pets SET status = 'lost' WHERE id = 9");
          database.close();
          return { target: join(folder, 'b.db'), keep: 2 };
        },
        /a\.db is damaged \(CHECK constraint failed in pets\): restore a backup/,
      ],
    };
    for (const [what, [prepare, problem]] of Object.entries(refusals)) {
      it(
        what,
        inFolder(async (folder) => {
          const file = join(folder, 'a.db');
          const opened = await openSqliteStore(file);
          await Promise.all(Array.from({ length: 500 }, () => opened.pets.add(rex)));
          await opened.close();
          const prepared = await prepare(file, folder);
          const {
            target,
            store = file,
            keep,
          } = typeof prepared === 'string' ? { target: prepared } : prepared;
          const state = async (): Promise<string[]> => {
            const names = (await readdir(folder)).sort();
            return Promise.all(names.map(async (name) => `${name} ${(await stat(join(folder, name))).ino}`));
          };
          const before = await state();
          const error = await rejection(backUpSqliteStore(store, target, { keep }));
          expect(error).to.be.instanceOf(StoreFileError);
          expect(error).to.have.property('message').that.matches(problem).and.does.not.include('\n');
          expect(await state()).to.deep.equal(before);
        }),
      );
    }
  });
});
