import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, { existsSync } from 'node:fs';
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
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  backUpSqliteStore,
  openSqliteStore,
  restoreSqliteStore,
  type SqliteBackup,
} from '../../../src/adapters/sqlite/index.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import {
  allPets,
  change,
  cleanUp,
  copyAsCrashed,
  expectStoreFileError,
  intercept,
  makeStore,
  modeOf,
  queried,
  rejection,
  rex,
  stateOf,
  testFile,
  testFolder,
  testStore,
} from './temporary-store.js';

const MAIN = fileURLToPath(import.meta.resolve('../../../src/bootstrap/main.js'));

const petsIn = (file: string): unknown => queried(file, 'SELECT count(*) FROM pets');

/** As `transfer.markUnfinished` marks a copy. */
const MARK = "INSERT INTO sqlite_sequence (name, seq) VALUES ('unfinished copy', 1)";

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
const syncs = (line: string, path: string): boolean =>
  (/sync\(/.test(line) && line.includes(`<${path}>`)) ||
  (line.includes('O_SYNC') && line.includes(`"${path}"`));

async function names(file: string): Promise<string[]> {
  const { pets } = await testStore(file);
  const all = await allPets(pets);
  return all.map(({ name }) => name);
}

type Leave = (store: CompleteStore, file: string) => Promise<void>;

/** A backup with one animal, of a store with two; how the store is left is up to `leave`. */
async function leftStore(leave: Leave = (store) => store.close()) {
  const path = testFolder();
  const folder = join(path, 'data');
  const backup = join(path, 'b.db');
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
  const crashed = await copyAsCrashed(file);
  await store.close();
  for (const suffix of ['', '-wal', '-shm']) await rename(crashed + suffix, file + suffix);
};

const canTrace = (options: readonly string[]): boolean =>
  spawnSync('strace', [...options, 'true']).status === 0;

/** Runs a command on a store that has Rex, under strace with these options. */
async function runTraced(options: readonly string[], command: string) {
  const { pets, file, close } = await testStore();
  await pets.add(rex);
  await close();
  const target = join(dirname(file), 'target.csv');
  const env = { ...process.env, STORE_URL: `sqlite:${file}` };
  const done = spawnSync('strace', [...options, process.execPath, MAIN, command, target], { env });
  return { done, file, target };
}

describe('backUpSqliteStore', () => {
  afterEach(cleanUp);

  it('copies a store as of one instant while another process writes to it', async () => {
    const { file } = await testStore();
    const writer = spawn(process.execPath, ['--input-type=module', '-e', PAIR_WRITER, file], {
      stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
    });
    const acknowledged = async (): Promise<number> => {
      const [count] = await once(writer, 'message');
      return Number(count);
    };
    try {
      while ((await acknowledged()) < 100);
      for (let round = 0; round < 5; round += 1) {
        const backup = `${file}.backup-${round}`;
        const before = await acknowledged();

        const { pets } = await backUpSqliteStore(file, backup);

        expect(pets, 'animals in the backup').to.be.at.least(before);
        expect(pets % 2, 'half a transaction').to.equal(0);
        expect(petsIn(backup)).to.equal(pets);
      }
    } finally {
      writer.kill('SIGKILL');
      await once(writer, 'exit');
    }
  });

  it('leaves a single file that only its owner can read, and tells what is in it', async () => {
    const { pets, file } = await testStore();
    await pets.add(rex);
    const folder = testFolder();
    const target = join(folder, 'a.db');

    const backup: SqliteBackup = await backUpSqliteStore(file, target);

    expect(backup).to.deep.equal({ store: file, file: target, pets: 1 });
    expect(await modeOf(target)).to.equal('600');
    expect(petsIn(target)).to.equal(1);
    // Without a log it opens on a disk that is read-only.
    expect(await readdir(folder)).to.deep.equal(['a.db']);
  });

  for (const command of ['backup', 'export']) {
    it(`brings the file of ${command} to the disk before it gives it its name`, async function () {
      const log = join(testFolder(), 'strace');
      const trace = ['-f', '-y', '-o', log, '-e', 'trace=openat,fsync,fdatasync,link,linkat'];
      if (!canTrace(trace)) return this.skip();

      const { target } = await runTraced(trace, command);

      const text = await readFile(log, 'utf8');
      const lines = text.split('\n');
      const named = lines.findIndex((line) => /link/.test(line) && line.includes(`"${target}"`));
      expect(named, text).to.be.greaterThan(0);
      const [, temporary = ''] = /"([^"]+)"/.exec(lines[named] ?? '') ?? [];
      const before = lines.slice(0, named).some((line) => syncs(line, temporary));
      expect(before, `${temporary} is synced`).to.equal(true);
      const after = lines.slice(named).some((line) => syncs(line, dirname(target)));
      expect(after, 'the folder is synced after it').to.equal(true);
    });
  }

  for (const command of ['backup', 'export'])
    it(`gives the file of ${command} its name where hard links are not supported`, async function () {
      const inject = ['-f', '-o', '/dev/null', '-e', 'inject=link,linkat:error=EPERM'];
      if (!canTrace(inject)) return this.skip();

      const { done, file, target } = await runTraced(inject, command);

      expect(done.status, String(done.stderr)).to.equal(0);
      expect(await readdir(dirname(file))).to.have.members([basename(file), 'target.csv']);
      expect(await readFile(target, 'latin1'), 'the content').to.include(rex.name);
      expect(await modeOf(target)).to.equal('600');
    });

  describe('where a folder cannot be synced', () => {
    let fault: Error;
    let file: string;
    const synced: string[] = [];
    beforeEach(async () => {
      ({ file } = testFile());
      await makeStore(file);
      fault = Object.assign(new Error('EIO'), { syscall: 'fsync' });
      const handle = await open(testFolder());
      const handles = Object.getPrototypeOf(handle) as typeof handle;
      await handle.close();
      mock.method(handles, 'sync', async function (this: typeof handle) {
        if (process.platform === 'linux') synced.push(await readlink(`/proc/self/fd/${this.fd}`));
        throw fault;
      });
    });
    afterEach(() => {
      mock.restoreAll();
      Reflect.deleteProperty(process, 'permission');
    });

    it('fails, as the creation of a store does', async () => {
      const backup = backUpSqliteStore(file, `${file}.backup`);
      await expectStoreFileError(backup, /was not copied to .+ \(EIO\)/);

      const folder = await realpath(dirname(file));
      if (process.platform === 'linux') expect(synced.at(-1)).to.equal(folder);
      await expectStoreFileError(openSqliteStore(`${file}.new`), /cannot be used \(EIO\)/);
    });

    it('creates no folder under the permission model of Node.js 26', async () => {
      const folder = join(testFolder(), 'new');
      Object.assign(fault, { code: 'ERR_ACCESS_DENIED' });
      Object.defineProperty(process, 'permission', { value: {}, configurable: true });

      const opening = openSqliteStore(join(folder, 'a.db'));

      await expectStoreFileError(opening, /: create the folder first/);
      expect(existsSync(folder)).to.equal(false);
    });
  });

  it('lets one of several backups to the same file win, and tells the others', async () => {
    const { file } = await testStore();

    const backups = [1, 2, 3].map(() => backUpSqliteStore(file, `${file}.backup`));

    const results = await Promise.allSettled(backups);
    const failed = results.filter((result) => result.status === 'rejected');
    expect(failed, 'backups that failed').to.have.length(2);
    for (const { reason } of failed)
      expect(String(reason)).to.match(/\.backup exists: |not copied to .+\.backup \(EEXIST/);
    const left = await readdir(dirname(file));
    expect(left.filter((name) => name.includes('.tmp-'))).to.deep.equal([]);
  });

  it('stops at a signal that comes while it copies, and leaves nothing', async () => {
    const { file } = await testStore();
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
    const crashed = await copyAsCrashed(file);
    const before = await readFile(`${crashed}-wal`, 'latin1');

    const backup = await backUpSqliteStore(crashed, `${file}.backup`);

    expect(backup).to.include({ pets: 1 });
    expect(await readFile(`${crashed}-wal`, 'latin1')).to.equal(before);
  });

  for (const [what, target, problem, sql = ''] of [
    ['a target that exists', 'b.db', /b\.db exists: name a new file/],
    ['the name of a log', 'a.db-wal', /a\.db-wal has a name that SQLite uses/],
    ['the name of a journal', 'a.db-journal', /a\.db-journal has a name that SQLite uses/],
    ['a folder that does not exist', 'none/b.db', /a\.db was not copied to .*none\/b\.db \(ENOENT/],
    [
      'a store whose copy proves damaged',
      'c.db',
      /is damaged \(CHECK constraint failed in pets\)/,
      "PRAGMA ignore_check_constraints = ON; UPDATE pets SET status = 'lost' WHERE id = 1",
    ],
    ['a copy that has not finished', 'c.db', /a\.db is a copy that has not finished/, MARK],
  ] as const) {
    it(`refuses ${what} in one line, and changes no file`, async () => {
      const folder = testFolder();
      const file = join(folder, 'a.db');
      await makeStore(file);
      change(file, sql);
      await writeFile(join(folder, 'b.db'), 'an earlier backup');
      const before = await stateOf(folder);

      await expectStoreFileError(backUpSqliteStore(file, join(folder, target)), problem);

      expect(await stateOf(folder)).to.deep.equal(before);
    });
  }
});

const RUN = import.meta.resolve('../../../src/bootstrap/commands/run.js');

/**
 * Runs a command twice: as this user, which loads the program from a folder that others may not be able to read, and then
 * without the rights of root, whom the permissions of files do not bind.
 */
const AS_ANOTHER_USER = `
  const { run } = await import('${RUN}');
  const { FIRST_URL, SECOND_URL } = process.env;
  const [command, firstPath, secondPath] = process.argv.slice(1);
  process.env.STORE_URL = FIRST_URL;
  if ((await run([command, firstPath], process)) !== 0) process.exit(9);
  if (process.getuid() === 0) process.setuid(65534);
  process.env.STORE_URL = SECOND_URL;
  process.exitCode = await run([command, secondPath], process);`;

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
      for (const mode of [0o000, 0o555]) {
        await chmod(locked, mode);
        const other = join(dirname(locked), `other-${mode}.csv`);
        const isRestore = command === 'restore';
        const places = isRestore ? [backup, backup] : [other, target];
        const env = {
          ...process.env,
          FIRST_URL: `sqlite:${isRestore ? other : file}`,
          SECOND_URL: `sqlite:${isRestore ? target : file}`,
          // The other user may not write where a run with coverage collects it.
          NODE_V8_COVERAGE: '',
        };
        const quiet = '--disable-warning=ExperimentalWarning'; // Node.js 22 warns about node:sqlite
        const args = [quiet, '--input-type=module', '--eval', AS_ANOTHER_USER, command, ...places];

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
    'has a journal, but no file': async (store, file) => {
      await store.close();
      await rename(file, `${file}-journal`);
    },
    'is missing, with its folder': async (store, file) => {
      await store.close();
      await rm(dirname(file), { recursive: true });
    },
  };
  for (const [what, leave] of Object.entries(ways)) {
    it(`puts a backup in the place of a store that ${what}: it holds what the backup holds`, async () => {
      const { folder, file, backup } = await leftStore(leave);
      const before = await readFile(backup, 'latin1');
      const isMissing = !existsSync(folder);

      const { setAside, ...restored } = await restoreSqliteStore(file, backup);

      expect(restored).to.deep.equal({ store: file, file: backup, pets: 1 });
      expect(await readFile(backup, 'latin1'), 'the backup').to.equal(before);
      expect(await modeOf(file)).to.equal('600');
      const left = isMissing ? ['a.db'] : ['a.db', basename(setAside ?? 'nothing')];
      expect(await readdir(folder), 'no log').to.have.members(left);
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

  it('sets a store aside where hard links are not supported', async () => {
    const { folder, file, backup } = await leftStore(crash);
    mock.method(fs, 'linkSync', () => {
      throw new Error('EPERM: operation not permitted');
    });
    syncBuiltinESMExports();

    const { setAside = '' } = await restoreSqliteStore(file, backup).finally(() => {
      mock.restoreAll();
      syncBuiltinESMExports();
    });

    expect(await readdir(folder)).to.have.members(['a.db', basename(setAside)]);
    expect(await names(file)).to.deep.equal(['before']);
    expect(await names(join(setAside, 'a.db'))).to.deep.equal(['before', 'after']);
  });

  it('replaces the store that a symbolic link leads to, and keeps the link', async () => {
    const { folder, file, backup } = await leftStore();
    const link = join(folder, '../link.db');
    await symlink(file, link);

    const restored = await restoreSqliteStore(link, backup);

    expect(restored).to.include({ store: file });
    expect(await readlink(link)).to.equal(file);
    expect(await names(file)).to.deep.equal(['before']);
  });

  const thief = 'CREATE TRIGGER thief AFTER INSERT ON pets BEGIN DELETE FROM pets; END';
  const faults = {
    'is damaged': [(file: string) => truncate(file, 8192), /malformed|is damaged/],
    'is empty': [(file: string) => truncate(file, 0), /b\.db is empty: name a backup/],
    'has a trigger': [(file: string) => change(file, thief), /has the trigger thief: no/],
    'is a copy that has not finished': [
      (file: string) => change(file, MARK),
      /b\.db is a copy that has not finished/,
    ],
  } as const;
  for (const [what, [make, problem]] of Object.entries(faults)) {
    it(`refuses a backup that ${what}, and leaves the store as it is`, async () => {
      const { folder, file, backup } = await leftStore();
      await make(backup);
      const before = await stateOf(folder);

      await expectStoreFileError(restoreSqliteStore(file, backup), problem);

      expect(await stateOf(folder)).to.deep.equal(before);
      expect(await readdir(folder)).to.deep.equal(['a.db']);
    });
  }

  it('releases a store that is in use, which can be restored once it is not', async () => {
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
    await chown(folder, 65_532, 65_531);

    await restoreSqliteStore(file, backup);
    expect(await stat(file), 'in the place of a store').to.include({ uid: 65_534, gid: 65_533 });

    await rm(file);
    await restoreSqliteStore(file, backup);
    expect(await stat(file), 'in an empty place').to.include({ uid: 65_532, gid: 65_531 });
  });
});
