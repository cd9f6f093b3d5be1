import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chown,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { backUpSqliteStore, restoreSqliteStore } from '../../../src/adapters/sqlite/sqlite-backup.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { CompleteStore, Store } from '../../../src/application/ports/store.js';
import { StoreFileError } from '../../../src/adapters/sqlite/store-file.js';
import { copyAsCrashed, inFolder, onStore, rejection, rex } from './temporary-store.js';

/** How many animals a file holds. Changes nothing beside it. */
function petsIn(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const pets = database.prepare('SELECT count(*) AS pets FROM pets').get()?.['pets'];
  database.close();
  return pets;
}

/** Adds animals in pairs, each in one transaction, and tells its parent how many are acknowledged. */
const PAIR_WRITER = `
  const { openSqliteStore } = await import('${import.meta.resolve('../../../src/adapters/sqlite/index.js')}');
  const rex = { name: 'Rex', categoryId: 7n, status: 'sold' };
  const { pets } = await openSqliteStore(process.argv[1]);
  for (let acknowledged = 2; ; acknowledged += 2) {
    await Promise.all([pets.add(rex), pets.add(rex)]);
    process.send(acknowledged);
    await new Promise(setImmediate);
  }`;

/** Whether a line of strace shows that a file or folder is synced, or will be with each write. */
const syncs = (line: string, path = ''): boolean =>
  (/sync\(/.test(line) && line.includes(`<${path}>`)) ||
  (line.includes('O_SYNC') && line.includes(`"${path}"`));

const names = async (store: Store): Promise<string[]> =>
  (await store.pets.list({ limit: 99 })).map(({ name }) => name);

/** A backup with one animal, of a store with two; how it was left is up to `leave`. */
const onLeft = (
  leave: (store: CompleteStore, file: string) => Promise<void>,
  test: (file: string, backup: string, folder: string) => Promise<void>,
): (() => Promise<void>) =>
  inFolder(async (folder) => {
    const [file, backup] = [join(folder, 'data', 'a.db'), join(folder, 'b.db')];
    const store = await openSqliteStore(file);
    await store.pets.add({ ...rex, name: 'before' });
    await store.transfer.reserveIds(7n);
    await backUpSqliteStore(file, backup);
    await store.pets.add({ ...rex, name: 'after' });
    await leave(store, file);
    await test(file, backup, join(folder, 'data'));
  });

/** Leaves a store as a kill does, with its log. */
async function crash(store: CompleteStore, file: string): Promise<void> {
  await copyAsCrashed(file, `${file}.crashed`);
  await store.close();
  for (const suffix of ['', '-wal', '-shm']) await rename(`${file}.crashed${suffix}`, file + suffix);
}

describe('backUpSqliteStore', () => {
  it(
    'copies a store as of one instant while another process writes to it',
    onStore(async ({ file }) => {
      const writer = spawn(process.execPath, ['--input-type=module', '-e', PAIR_WRITER, file], {
        stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
      });
      const acknowledged = async (): Promise<number> => (await once(writer, 'message'))[0] as number;
      try {
        while ((await acknowledged()) < 100);
        for (let round = 0; round < 5; round += 1) {
          const before = await acknowledged();
          const { pets } = await backUpSqliteStore(file, `${file}.backup-${round}`);
          expect(pets).to.be.at.least(before);
          expect(pets % 2, 'no half transaction').to.equal(0);
          expect(petsIn(`${file}.backup-${round}`)).to.equal(pets);
        }
      } finally {
        writer.kill('SIGKILL');
        await once(writer, 'exit');
      }
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
      expect(petsIn(target)).to.equal(1);
      expect(await readdir(folder), 'no log: it opens on a disk that is read-only').to.deep.equal(['a.db']);
    }),
  );

  for (const command of ['backup', 'export']) {
    it(`brings the file of ${command} to the disk before it gives it its name`, async function () {
      const calls = ['-f', '-y', '-e', 'trace=openat,fsync,fdatasync,link,linkat'];
      if (spawnSync('strace', [...calls, 'true']).status !== 0) return this.skip();
      await onStore(async ({ pets, file }) => {
        await pets.add(rex);
        await pets.close();
        const target = join(dirname(file), 'target.csv');
        const main = fileURLToPath(import.meta.resolve('../../../src/bootstrap/main.js'));
        const { stderr } = spawnSync('strace', [...calls, process.execPath, main, command, target], {
          encoding: 'utf8',
          env: { ...process.env, STORE_URL: `sqlite:${file}` },
        });
        const lines = stderr.split('\n');
        const named = lines.findIndex((line) => /link/.test(line) && line.includes(`"${target}"`));
        expect(named, stderr).to.be.greaterThan(0);
        const [, temporary] = /"([^"]+)"/.exec(lines[named] ?? '') ?? [];
        const before = lines.slice(0, named).some((line) => syncs(line, temporary));
        expect(before, `${temporary} is synced`).to.equal(true);
        const after = lines.slice(named).some((line) => syncs(line, dirname(target)));
        expect(after, 'the folder is synced after it').to.equal(true);
      })();
    });
  }

  it(
    'lets one of several backups to the same file win, and tells the others',
    onStore(async ({ file }) => {
      const backups = [1, 2, 3].map(() => backUpSqliteStore(file, `${file}.backup`));
      const results = await Promise.allSettled(backups);
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      for (const result of results)
        if (result.status === 'rejected')
          expect(String(result.reason)).to.match(/\.backup exists: name another file/);
      expect((await readdir(dirname(file))).filter((name) => name.includes('.tmp-'))).to.deep.equal([]);
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
      for (const name of ['a.db', 'b.db']) {
        const copy = new DatabaseSync(join(folder, name));
        expect(copy.prepare('PRAGMA user_version').get()).to.include({ user_version: 2 });
        copy.close();
      }
    }),
  );

  it(
    'stops at a signal that comes while it copies, and leaves nothing',
    onStore(async ({ pets, file }) => {
      await pets.add(rex);
      const before = await readdir(join(file, '..'));
      const stop = new AbortController();
      const reason = new Error('enough');
      process.once('SIGUSR2', () => stop.abort(reason));
      const methods = DatabaseSync.prototype as unknown as Record<'prepare', (sql: string) => unknown>;
      const original = methods.prepare;
      methods.prepare = function (this: DatabaseSync, sql) {
        if (sql.startsWith('VACUUM')) process.kill(process.pid, 'SIGUSR2');
        return original.call(this, sql);
      };
      try {
        expect(await rejection(backUpSqliteStore(file, `${file}.backup`, { signal: stop.signal }))).to.equal(
          reason,
        );
      } finally {
        methods.prepare = original;
      }
      expect(await readdir(join(file, '..'))).to.deep.equal(before);
    }),
  );

  for (const [what, target, problem] of [
    ['a target that exists', 'b.db', /b\.db exists: name another file, for example with the date/],
    ['the name of a log', 'a.db-wal', /a\.db-wal has a name that SQLite uses/],
    ['the name of a journal', 'a.db-journal', /a\.db-journal has a name that SQLite uses/],
    ['a folder that does not exist', 'none/b.db', /a\.db was not copied to .*none\/b\.db \(ENOENT/],
    ['a store whose copy proves damaged', 'c.db', /a\.db is damaged \(CHECK constraint failed in pets\)/],
  ] as const) {
    it(
      `refuses ${what} in one line, and changes no file`,
      inFolder(async (folder) => {
        const file = join(folder, 'a.db');
        const opened = await openSqliteStore(file);
        await Promise.all(Array.from({ length: 500 }, () => opened.pets.add(rex)));
        await opened.close();
        const database = new DatabaseSync(file);
        database.exec("PRAGMA ignore_check_constraints = ON; UPDATE pets SET status = 'lost' WHERE id = 9");
        if (target !== 'c.db') database.exec("UPDATE pets SET status = 'sold' WHERE id = 9");
        database.close();
        await writeFile(join(folder, 'b.db'), 'an earlier backup');
        const state = async (): Promise<string[]> => {
          const found = (await readdir(folder)).sort();
          return Promise.all(found.map(async (name) => `${name} ${(await stat(join(folder, name))).ino}`));
        };
        const before = await state();
        const error = await rejection(backUpSqliteStore(file, join(folder, target)));
        expect(error).to.be.instanceOf(StoreFileError);
        expect(error).to.have.property('message').that.matches(problem).and.does.not.include('\n');
        expect(await state()).to.deep.equal(before);
      }),
    );
  }
});

describe('restoreSqliteStore', () => {
  const ways: Record<string, (store: CompleteStore, file: string) => Promise<void>> = {
    'was closed': (store) => store.close(),
    'a crash left with its log': crash,
    'is damaged': async (store, file) => {
      await crash(store, file);
      await writeFile(file, Buffer.alloc(8192, 0xa5));
    },
    'lost its file, but not a journal': async (store, file) => {
      await store.close();
      await rename(file, `${file}-journal`);
    },
    'is gone, with its folder': async (store, file) => {
      await store.close();
      await rm(join(file, '..'), { recursive: true });
    },
  };
  for (const [what, leave] of Object.entries(ways)) {
    it(
      `puts a backup in the place of a store that ${what}: it holds what the backup holds`,
      onLeft(leave, async (file, backup, folder) => {
        const before = await readFile(backup);
        const had = await readdir(folder).catch(() => []);
        const restored = await restoreSqliteStore(file, backup);
        expect(restored).to.include({ store: file, file: backup, pets: 1, bytes: (await stat(file)).size });
        expect(before.equals(await readFile(backup)), 'the backup stays').to.equal(true);
        expect(((await stat(file)).mode & 0o777).toString(8)).to.equal('600');
        const left = (await readdir(folder)).filter((name) => name !== 'a.db');
        expect(left, 'no log').to.deep.equal(
          restored.setAside === null ? [] : [basename(restored.setAside ?? '')],
        );
        expect(restored.setAside === null).to.equal(had.length === 0);
        const store = await openSqliteStore(file);
        expect(await names(store)).to.deep.equal(['before']);
        expect((await store.pets.add(rex)).pet.id, 'no id is used again').to.equal(8n);
        await store.close();
      }),
    );
  }

  it(
    'sets aside all of a store that a crash left with its log',
    onLeft(crash, async (file, backup) => {
      const { setAside } = await restoreSqliteStore(file, backup);
      const old = await openSqliteStore(join(setAside ?? '', 'a.db'));
      expect(await names(old)).to.deep.equal(['before', 'after']);
      await old.close();
    }),
  );

  for (const [what, make, problem] of [
    ['is damaged', async (file: string) => truncate(file, 8192), /malformed|is damaged/],
    ['is empty', async (file: string) => truncate(file, 0), /b\.db is empty: name a backup/],
    [
      'is the store itself',
      async (file: string) => {
        await rm(file);
        await symlink(join(file, '..', 'data', 'a.db'), file);
      },
      /is the store itself/,
    ],
    [
      'has a trigger that no store has',
      async (file: string) => {
        const database = new DatabaseSync(file);
        database.exec('CREATE TRIGGER thief AFTER INSERT ON pets BEGIN DELETE FROM pets; END');
        database.close();
      },
      /has the trigger thief: no store has one, drop it/,
    ],
  ] as const) {
    it(
      `refuses a backup that ${what}, and leaves the store as it is`,
      onLeft(ways['was closed'] as typeof crash, async (file, backup, folder) => {
        await make(backup);
        const before = await readFile(file);
        const error = await rejection(restoreSqliteStore(file, backup));
        expect(error).to.be.instanceOf(StoreFileError);
        expect(error).to.have.property('message').that.matches(problem).and.does.not.include('\n');
        expect(before.equals(await readFile(file))).to.equal(true);
        expect(await readdir(folder)).to.deep.equal(['a.db']);
      }),
    );
  }

  it('gives the store to the owner of the old one, or of its folder', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    await onLeft(ways['was closed'] as typeof crash, async (file, backup, folder) => {
      await chown(file, 65_534, 65_533);
      await restoreSqliteStore(file, backup);
      expect(await stat(file)).to.include({ uid: 65_534, gid: 65_533 });
      await rm(file);
      await chown(folder, 65_532, 65_531);
      await restoreSqliteStore(file, backup);
      expect(await stat(file)).to.include({ uid: 65_532, gid: 65_531 });
    })();
  });
});
