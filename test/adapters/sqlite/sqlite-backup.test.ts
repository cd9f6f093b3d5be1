import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  backUpSqliteStore,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/sqlite-backup.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import {
  allPets,
  change,
  cleanUp,
  copyAsCrashed,
  expectStoreFileError,
  intercept,
  modeOf,
  queried,
  rejection,
  rex,
  stateOf,
  testFolder,
  testStore,
} from './temporary-store.js';

const MAIN = fileURLToPath(import.meta.resolve('../../../src/bootstrap/main.js'));

const petsIn = (file: string): unknown => queried(file, 'SELECT count(*) FROM pets');

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

const names = async (file: string): Promise<string[]> => {
  const { pets } = await testStore(file);
  return (await allPets(pets)).map(({ name }) => name);
};

type Leave = (store: CompleteStore, file: string) => Promise<void>;

/** A backup with one animal, of a store with two; how the store is left is up to `leave`. */
async function leftStore(leave: Leave = (store) => store.close()) {
  const path = testFolder();
  const [folder, backup] = [join(path, 'data'), join(path, 'b.db')];
  const file = join(folder, 'a.db');
  const store = await openSqliteStore(file);
  await store.pets.add({ ...rex, name: 'before' });
  await store.transfer.reserveIds(7n);
  await backUpSqliteStore(file, backup);
  await store.pets.add({ ...rex, name: 'after' });
  await leave(store, file);
  return { folder, file, backup };
}

/** Leaves a store as a kill does, with its log. */
const crash: Leave = async (store, file) => {
  await copyAsCrashed(file, `${file}.crashed`);
  await store.close();
  for (const suffix of ['', '-wal', '-shm'])
    await rename(`${file}.crashed${suffix}`, file + suffix);
};

describe('backUpSqliteStore', () => {
  afterEach(cleanUp);

  it('copies a store as of one instant while another process writes to it', async () => {
    const { file } = await testStore();
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
  });

  it('leaves a single file that only its owner can read, and tells what is in it', async () => {
    const { pets, file } = await testStore();
    await pets.add(rex);
    const folder = join(file, '../backups');
    await mkdir(folder);
    const target = join(folder, 'a.db');
    expect(await backUpSqliteStore(file, target)).to.deep.equal({
      store: file,
      file: target,
      pets: 1,
    });
    expect(await modeOf(target)).to.equal('600');
    expect(petsIn(target)).to.equal(1);
    expect(await readdir(folder), 'no log: it opens on a disk that is read-only').to.deep.equal([
      'a.db',
    ]);
  });

  for (const command of ['backup', 'export']) {
    it(`brings the file of ${command} to the disk before it gives it its name`, async function () {
      const log = join(testFolder(), 'strace');
      const calls = ['-f', '-y', '-o', log, '-e', 'trace=openat,fsync,fdatasync,link,linkat'];
      if (spawnSync('strace', [...calls, 'true']).status !== 0) return this.skip();
      const { pets, file, close } = await testStore();
      await pets.add(rex);
      await close();
      const target = join(dirname(file), 'target.csv');
      spawnSync('strace', [...calls, process.execPath, MAIN, command, target], {
        env: { ...process.env, STORE_URL: `sqlite:${file}` },
      });
      const text = await readFile(log, 'utf8');
      const lines = text.split('\n');
      const named = lines.findIndex((line) => /link/.test(line) && line.includes(`"${target}"`));
      expect(named, text).to.be.greaterThan(0);
      const [, temporary] = /"([^"]+)"/.exec(lines[named] ?? '') ?? [];
      const before = lines.slice(0, named).some((line) => syncs(line, temporary));
      expect(before, `${temporary} is synced`).to.equal(true);
      const after = lines.slice(named).some((line) => syncs(line, dirname(target)));
      expect(after, 'the folder is synced after it').to.equal(true);
    });
  }

  it('fails if it cannot bring the name of the file to the disk, as a new store does', async () => {
    const { file } = await testStore();
    const handle = await open(dirname(file));
    const handles = Object.getPrototypeOf(handle) as typeof handle;
    await handle.close();
    const fault = Object.assign(new Error('EIO'), { syscall: 'fsync' });
    const synced: string[] = [];
    const sync = mock.method(handles, 'sync', async function (this: typeof handle) {
      if (process.platform === 'linux') synced.push(await readlink(`/proc/self/fd/${this.fd}`));
      throw fault;
    });
    try {
      const backup = backUpSqliteStore(file, `${file}.backup`);
      await expectStoreFileError(backup, /was not copied to .+ \(EIO\)/);
      await expectStoreFileError(openSqliteStore(`${file}.new`), /cannot be used \(EIO\)/);
      if (process.platform === 'linux')
        expect(synced.at(-1)).to.equal(await realpath(dirname(file)));
      // As Node.js's permission model does, from version 26 on.
      Object.assign(fault, { code: 'ERR_ACCESS_DENIED' });
      Object.defineProperty(process, 'permission', { value: {}, configurable: true });
      const folder = join(dirname(file), 'new');
      await expectStoreFileError(
        openSqliteStore(join(folder, 'a.db')),
        /: create the folder first/,
      );
      expect(existsSync(folder)).to.equal(false);
    } finally {
      sync.mock.restore();
      Reflect.deleteProperty(process, 'permission');
    }
  });

  it('lets one of several backups to the same file win, and tells the others', async () => {
    const { file } = await testStore();
    const backups = [1, 2, 3].map(() => backUpSqliteStore(file, `${file}.backup`));
    const results = await Promise.allSettled(backups);
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const result of results)
      if (result.status === 'rejected')
        expect(String(result.reason)).to.match(
          /\.backup exists: |not copied to .+\.backup \(EEXIST/,
        );
    expect((await readdir(dirname(file))).filter((name) => name.includes('.tmp-'))).to.deep.equal(
      [],
    );
  });

  it('stops at a signal that comes while it copies, and leaves nothing', async () => {
    const { pets, file } = await testStore();
    await pets.add(rex);
    const before = await readdir(dirname(file));
    const stop = new AbortController();
    const reason = new Error('enough');
    process.once('SIGUSR2', () => stop.abort(reason));
    const end = intercept('prepare', (sql) => {
      if (sql.startsWith('VACUUM')) process.kill(process.pid, 'SIGUSR2');
    });
    const backup = backUpSqliteStore(file, `${file}.backup`, { signal: stop.signal });
    expect(await rejection(backup).finally(end)).to.equal(reason);
    expect(await readdir(dirname(file))).to.deep.equal(before);
  });

  it('backs up what a crash left in the log, and leaves the log as it is', async () => {
    const { pets, file } = await testStore();
    await pets.add(rex);
    const crashed = `${file}.crashed`;
    await copyAsCrashed(file, crashed, ['', '-wal']);
    const before = await readFile(`${crashed}-wal`);
    expect(await backUpSqliteStore(crashed, `${file}.backup`)).to.include({ pets: 1 });
    expect(before.equals(await readFile(`${crashed}-wal`))).to.equal(true);
  });

  it('upgrades neither the store nor the backup: it may be made before an upgrade', async () => {
    const { file, close } = await testStore();
    await close();
    change(file, 'PRAGMA user_version = 2');
    await backUpSqliteStore(file, `${file}.backup`);
    for (const each of [file, `${file}.backup`])
      expect(queried(each, 'PRAGMA user_version')).to.equal(2);
  });

  for (const [what, target, problem] of [
    ['a target that exists', 'b.db', /b\.db exists: name a new file/],
    ['the name of a log', 'a.db-wal', /a\.db-wal has a name that SQLite uses/],
    ['the name of a journal', 'a.db-journal', /a\.db-journal has a name that SQLite uses/],
    ['a folder that does not exist', 'none/b.db', /a\.db was not copied to .*none\/b\.db \(ENOENT/],
    [
      'a store whose copy proves damaged',
      'c.db',
      /a\.db is damaged \(CHECK constraint failed in pets\)/,
    ],
  ] as const) {
    it(`refuses ${what} in one line, and changes no file`, async () => {
      const folder = testFolder();
      const file = join(folder, 'a.db');
      const opened = await openSqliteStore(file);
      await Promise.all(Array.from({ length: 500 }, () => opened.pets.add(rex)));
      await opened.close();
      if (target === 'c.db')
        change(
          file,
          "PRAGMA ignore_check_constraints = ON; UPDATE pets SET status = 'lost' WHERE id = 9",
        );
      await writeFile(join(folder, 'b.db'), 'an earlier backup');
      const before = await stateOf(folder);
      await expectStoreFileError(backUpSqliteStore(file, join(folder, target)), problem);
      expect(await stateOf(folder)).to.deep.equal(before);
    });
  }
});

describe('The command', () => {
  afterEach(cleanUp);

  for (const command of ['backup', 'export', 'restore']) {
    it(`${command} names the user who may not write to a folder, and the folder`, async function () {
      if (process.platform === 'win32') return this.skip();
      const { file, close } = await testStore();
      await close();
      const locked = join(testFolder(), 'locked');
      await mkdir(locked);
      const target = join(locked, 'target.csv');
      const backup = `${file}.backup`;
      await backUpSqliteStore(file, backup);
      for (const path of [dirname(locked), dirname(file), file, backup]) await chmod(path, 0o777);
      const isRestore = command === 'restore';
      const env = { ...process.env, STORE_URL: `sqlite:${isRestore ? target : file}` };
      // The permissions of files do not bind root.
      const unprivileged = 'data:text/javascript,process.getuid() === 0 && process.setuid(65534)';
      const args = ['--import', unprivileged, MAIN, command, isRestore ? backup : target];
      for (const mode of [0o000, 0o555]) {
        await chmod(locked, mode);

        const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });

        expect(status, stderr).to.equal(1);
        expect(stderr).to.match(/^[^\n]+EACCES[^\n]+, as the user \d+\S*\n$/);
        expect(stderr).to.include(`'${target}`);
      }
    });
  }
});

describe('restoreSqliteStore', () => {
  afterEach(cleanUp);

  const ways: Record<string, Leave> = {
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
      await rm(dirname(file), { recursive: true });
    },
  };
  for (const [what, leave] of Object.entries(ways)) {
    it(`puts a backup in the place of a store that ${what}: it holds what the backup holds`, async () => {
      const { folder, file, backup } = await leftStore(leave);
      const before = await readFile(backup);
      const had = await readdir(folder).catch(() => []);
      const { setAside, ...restored } = await restoreSqliteStore(file, backup);
      expect(restored).to.deep.equal({ store: file, file: backup, pets: 1 });
      expect(before.equals(await readFile(backup)), 'the backup stays').to.equal(true);
      expect(await modeOf(file)).to.equal('600');
      const left = (await readdir(folder)).filter((name) => name !== 'a.db');
      expect(left, 'no log').to.deep.equal(setAside === undefined ? [] : [basename(setAside)]);
      expect(setAside === undefined).to.equal(had.length === 0);
      expect(await names(file)).to.deep.equal(['before']);
      const { pets } = await testStore(file);
      expect((await pets.add(rex)).id, 'no id is used again').to.equal(8n);
    });
  }

  it('sets aside all of a store that a crash left with its log', async () => {
    const { file, backup } = await leftStore(crash);
    const { setAside = '' } = await restoreSqliteStore(file, backup);
    expect(await names(join(setAside, 'a.db'))).to.deep.equal(['before', 'after']);
  });

  it('replaces the store that a symbolic link leads to, and keeps the link', async () => {
    const { folder, file, backup } = await leftStore();
    const link = join(folder, '../link.db');
    await symlink(file, link);
    expect(await restoreSqliteStore(link, backup)).to.include({ store: file });
    expect(await readlink(link)).to.equal(file);
    expect(await names(file)).to.deep.equal(['before']);
  });

  const thief = 'CREATE TRIGGER thief AFTER INSERT ON pets BEGIN DELETE FROM pets; END';
  for (const [what, make, problem] of [
    ['is damaged', (file: string) => truncate(file, 8192), /malformed|is damaged/],
    ['is empty', (file: string) => truncate(file, 0), /b\.db is empty: name a backup/],
    [
      'has a trigger that no store has',
      (file: string) => change(file, thief),
      /has the trigger thief: no/,
    ],
  ] as const) {
    it(`refuses a backup that ${what}, and leaves the store as it is`, async () => {
      const { folder, file, backup } = await leftStore();
      await make(backup);
      const before = await stateOf(folder);
      await expectStoreFileError(restoreSqliteStore(file, backup), problem);
      expect(await stateOf(folder)).to.deep.equal(before);
      expect(await readdir(folder)).to.deep.equal(['a.db']);
    });
  }

  it('lets go of a store that is in use, which can be restored once it is not', async () => {
    const { file, backup } = await leftStore();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    await expectStoreFileError(restoreSqliteStore(file, backup), /is in use/);
    other.close();
    expect(await restoreSqliteStore(file, backup)).to.include({ pets: 1 });
  });

  it('gives the store to the owner of the old one, or of its folder', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    const { folder, file, backup } = await leftStore();
    await chown(file, 65_534, 65_533);
    await restoreSqliteStore(file, backup);
    expect(await stat(file)).to.include({ uid: 65_534, gid: 65_533 });
    await rm(file);
    await chown(folder, 65_532, 65_531);
    await restoreSqliteStore(file, backup);
    expect(await stat(file)).to.include({ uid: 65_532, gid: 65_531 });
  });
});
