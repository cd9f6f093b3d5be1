import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmod,
  copyFile,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { backUpSqliteStore } from '../../../src/adapters/sqlite/sqlite-backup.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { SCHEMA_VERSION, createSchema } from '../../../src/adapters/sqlite/schema.js';
import { sqliteStoreFactory } from '../../../src/adapters/sqlite/sqlite-store-factory.js';
import type { OpenMode, OpenOptions } from '../../../src/application/ports/store.js';
import {
  allPets,
  change,
  cleanUp,
  copyAsCrashed,
  expectStoreFileError,
  intercept,
  makeOldStore,
  makeStore,
  modeOf,
  queried,
  rejection,
  rex,
  stateOf,
  testFile,
  testStore,
  unavailable,
} from './temporary-store.js';

const SQLITE = import.meta.resolve('../../../src/adapters/sqlite/index.js');

/** Opening must fail with one clear line, change no byte of the file or beside it, and leave nothing new there. */
async function expectRefused(file: string, problem: RegExp, options?: OpenOptions): Promise<void> {
  const before = await stateOf(dirname(file));
  const error = await expectStoreFileError(openSqliteStore(file, options), problem);
  expect(error).to.have.property('file', file);
  expect(String(error)).to.include(file);
  expect(await stateOf(dirname(file)), 'files afterwards').to.deep.equal(before);
}

/** Overwrites the last two pages with noise. */
async function damage(file: string): Promise<void> {
  const content = await readFile(file);
  await writeFile(file, content.fill(0xa5, content.length - 8192));
}

/** A database of another program. It stays open, so that its log or journal does. */
function otherDatabase(file: string, sql: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(`${sql}; CREATE TABLE pets (id INTEGER PRIMARY KEY)`);
  return database;
}

/** What a test finds at a path, or beside it. */
type Make = (path: string) => Promise<unknown>;

const makeEmpty: Make = (path) => writeFile(path, '');

const makeLog: Make = (path) => writeFile(`${path}-wal`, 'acknowledged animals');

const makeJournal: Make = (path) => writeFile(`${path}-journal`, 'animals to restore');

const makeNothing: Make = async () => {};

const makeUsed: Make = async (path) => {
  const { pets } = await testStore(path);
  await pets.add({ ...rex, name: 'Rex 0' });
};

const REFUSED: Readonly<Record<string, readonly [make: Make, problem: RegExp]>> = {
  'a text': [
    (path) => writeFile(path, 'dear diary '.repeat(999)),
    /\(file is not a database\): make sure that it is a sound store/,
  ],
  'the database of another program': [
    async (path) => otherDatabase(path, '').close(),
    /another program \(its application id is 0, not .+ \.dump drops\): name/,
  ],
  'a store of version 0.3': [
    makeOldStore,
    /has schema version 3, older than 4, the one of this program: use the program that wrote it\.$/,
  ],
  'a store cut short': [
    async (path) => {
      await makeStore(path, 500);
      await truncate(path, 16_384);
    },
    /\(database disk image is malformed\): make sure/,
  ],
  'a store with noise in its pages': [
    async (path) => {
      await makeStore(path, 5000);
      await damage(path);
    },
    /is damaged \(.+\): restore a backup/,
  ],
};

const ONLY_READ: Readonly<Record<string, Make>> = {
  'a closed store': (path) => makeStore(path),
  'a store in use': makeUsed,
  'what a crash left': async (path) => {
    const used = `${path}.used`;
    await makeUsed(used);
    await copyAsCrashed(used, path);
  },
  'a backup': async (path) => {
    const store = `${path}.store`;
    await makeStore(store);
    await backUpSqliteStore(store, path);
  },
};

const CUT_OFF: Readonly<Record<string, Make>> = {
  'and left an empty log alone': (path) => makeEmpty(`${path}-wal`),
  'before its first page': makeEmpty,
  'between its first page and its schema': async (path) =>
    change(path, 'PRAGMA application_id = 0x416e5374'),
};

/** The files of a folder that readers must not change: they leave marks in the index of a log. */
const unchanging = async (folder: string): Promise<readonly string[]> =>
  (await stateOf(folder)).filter((line) => !line.includes('-shm '));

/** Opens a store in a process of its own, runs `script` there, and closes it. Resolves to what became of it. */
async function inProcess(file: string, script: string, options = {}): Promise<string> {
  const whole = `
    const { openSqliteStore } = await import('${SQLITE}');
    const { unprivileged, ...options } = ${JSON.stringify(options)};
    // The permissions of files do not bind root.
    if (unprivileged && process.getuid() === 0) process.setuid(65534);
    const store = await openSqliteStore(process.argv[1], options);
    ${script}
    await store.close();`;
  const { stdout, stderr } = spawn(process.execPath, ['--input-type=module', '-e', whole, file]);
  const outputs = await Promise.all([text(stdout), text(stderr)]);
  return outputs.join('');
}

/** All names in a store, as one text. */
const WHOLE = 'SELECT group_concat(name) FROM (SELECT name FROM pets ORDER BY id)';

/** Another program writes to the closed store at `file`, with a journal, and is killed meanwhile. */
function dieWriting(file: string): void {
  const script = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    database.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; UPDATE pets SET name = 'Max'");
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['-e', script, file]);
  expect(signal, 'the signal that ended the other program').to.equal('SIGKILL');
}

describe('openSqliteStore', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    ({ folder, file } = testFile());
  });
  afterEach(cleanUp);

  describe('refuses with one clear line, and leaves untouched,', () => {
    for (const [what, [make, problem]] of Object.entries(REFUSED)) {
      it(what, async () => {
        await make(file);
        await expectRefused(file, problem);
      });
    }

    for (const mode of ['DELETE', 'WAL']) {
      it(`a database that another program is writing to in journal mode ${mode}`, async () => {
        const other = otherDatabase(file, `PRAGMA journal_mode = ${mode}`);
        other.exec('BEGIN IMMEDIATE; INSERT INTO pets VALUES (1)');
        await expectRefused(file, /is the SQLite database of another program/);
        other.close();
      });
    }

    it('what another program has not finished writing after a crash', async () => {
      const other = otherDatabase(file, 'PRAGMA cache_size = 1; PRAGMA cache_spill = 1');
      other.exec('BEGIN; CREATE TABLE t (x); INSERT INTO t SELECT hex(zeroblob(500000))');
      const crashed = await copyAsCrashed(file);
      other.close();
      await expectRefused(crashed, /is the SQLite database of another program/);
    });

    it('a newer store whose version is only in the log, and a damaged one with the log of a crash', async () => {
      await makeStore(file, 500);
      using other = new DatabaseSync(file);
      other.exec('PRAGMA user_version = 9');
      const crashed = await copyAsCrashed(file);
      await expectRefused(crashed, /has schema version 9, newer than/);

      await damage(crashed);
      using log = new DatabaseSync(crashed);
      log.exec('PRAGMA user_version = 4');

      await expectRefused(crashed, /is damaged/);
    });

    it('a file with a second hard link, which a process could use beside the log of the first', async () => {
      const other = join(folder, 'other.db');
      await makeStore(file);
      await link(file, other);

      for (const name of [file, other])
        await expectRefused(name, /has more than one hard link: remove/);

      await testStore(file, { mode: 'read' });
      await rm(other);
      await testStore(file);
    });

    it('a file that is itself a mount point', async function () {
      const mounted = join(folder, 'b c', 'animals.db');
      await makeStore(file);
      await makeStore(mounted);
      const mount = 'mount --bind "$0" "$1" && shift && exec "$@"';
      const inNamespace = ['--map-root-user', '--mount', 'sh', '-c', mount, file, mounted];
      if (spawnSync('unshare', [...inNamespace, 'true']).status !== 0) return this.skip();
      const open = `
          const { openSqliteStore } = await import('${SQLITE}');
          await openSqliteStore(process.argv[1]).catch(({ message }) => console.log(message));`;

      const node = [process.execPath, '--input-type=module', '-e', open, mounted];
      const { stdout } = spawnSync('unshare', [...inNamespace, ...node], { encoding: 'utf8' });

      const problem = 'is itself a mount point: mount the folder of the store, not the file';
      expect(stdout).to.equal(`${mounted} ${problem}.\n`);
    });

    it('a backup that was copied over a store whose log is beside it, for reading, too', async () => {
      const backup = join(folder, 'backup.db');
      await makeStore(file);
      await backUpSqliteStore(file, backup);
      await makeUsed(file);
      const crashed = await copyAsCrashed(file);
      await writeFile(crashed, await readFile(backup));

      const problem = /is not the file that .+-wal belongs to: remove that log, or put its own/;
      for (const mode of ['create', 'read', 'existing'] as const)
        await expectRefused(crashed, problem, { mode });
      await expectStoreFileError(backUpSqliteStore(crashed, join(folder, 'new.db')), problem);

      await rm(`${crashed}-wal`);
      const alone = await testStore(crashed);
      expect(await allPets(alone.pets)).to.have.length(1);
    });

    it('an empty file beside a log, or where a store must exist', async () => {
      await makeEmpty(file);
      await expectRefused(file, /is empty: name the file of a store/, { mode: 'existing' });
      await makeLog(file);
      await expectRefused(file, /is empty, but .+-wal exists: restore a backup/);
    });
  });

  it('refuses a URL in place of a path', async () => {
    const opening = openSqliteStore(`sqlite:${file}`);

    await expectStoreFileError(opening, /is a URL: give the path in it alone/);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  for (const path of [
    ':memory:',
    '',
    'file:a.db',
    'file:///a.db',
    '~/a.db',
    'a.db?mode=ro',
    'a.db-wal',
  ])
    it(`refuses ${path || 'an empty path'}, which is no path of a store, and creates nothing`, async () => {
      const before = await readdir('.');

      await expectStoreFileError(openSqliteStore(path), /is no path of a store: name a file, /);

      expect(await readdir('.')).to.deep.equal(before);
    });

  const tooLong = `${'ä/'.repeat(165)}a.db`;
  type Uncreatable = readonly [string, Make, string, RegExp, OpenMode?];
  const uncreatable: readonly Uncreatable[] = [
    ['a folder', mkdir, 'folder', /is not a regular file: name/],
    ['a path through a file', (path) => makeEmpty(dirname(path)), 'file/a.db', /used \(ENOTDIR/],
    ['a link that leads nowhere', (path) => symlink('nowhere', path), 'link', /used \(ENOENT/],
    ['a path too long for SQLite', makeNothing, tooLong, /is longer than 504 bytes/],
    ['a store beside the log of a missing one', makeLog, 'a.db', /is missing, but .+-wal exists: /],
    ['a store beside the journal of a missing one', makeJournal, 'a.db', /but .+-journal exists: /],
    ['a store that must exist', makeNothing, 'none/a.db', /does not exist: name/, 'existing'],
    ['a store that is only read', makeNothing, 'none/a.db', /does not exist: name/, 'read'],
    ['a store in an empty file that is only read', makeEmpty, 'a.db', /is empty: name/, 'snapshot'],
  ];
  for (const [what, make, path, problem, mode] of uncreatable) {
    it(`refuses to create ${what}, and creates no folder`, async () => {
      const given = join(folder, path);
      await make(given);
      const before = await readdir(folder);

      await expectStoreFileError(openSqliteStore(given, { mode }), problem);

      expect(await readdir(folder)).to.deep.equal(before);
    });
  }

  it('refuses a folder that can never be created, whatever the system says of it', async function () {
    // There mkdir says of a folder whose parent exists that the parent does not.
    if (process.platform !== 'linux') return this.skip();

    const error = await rejection(openSqliteStore('/proc/nowhere/inside/animals.db'));

    expect(String(error)).to.match(/^StoreFileError: .+ cannot be used \(ENOENT.*\): make sure/);
  });

  it('refuses a store that it cannot write, unless it only reads', async () => {
    const strange = join(folder, 'a b%20#c?d.db');
    await makeStore(strange);
    await chmod(folder, 0o777);
    await chmod(strange, 0o444);
    const script = 'for (const pet of await store.pets.list({ limit: 5 })) console.log(pet.name);';
    const opening = (mode: string) => inProcess(strange, script, { unprivileged: true, mode });

    const refused = await opening('create');
    expect(refused).to.match(/StoreFileError: .+ cannot be used \(EACCES.+ can be written/);
    expect(await readdir(folder)).to.deep.equal([basename(strange)]);

    await chmod(folder, 0o555); // as on a medium that cannot be written
    expect(await opening('read'), 'without a log').to.match(/^Rex 0\n/);

    for (const path of [folder, strange]) await chmod(path, 0o755);
    const other = await testStore(strange);
    await other.pets.add({ ...rex, name: 'in the log' });
    await chmod(folder, 0o555);
    expect(await opening('read'), 'with a log').to.match(/^Rex 0\nin the log\n/);
    await chmod(folder, 0o755);
  });

  for (const mode of ['create', 'existing']) {
    it(`names the true reason when it may not look into the folder, in mode ${mode}`, async () => {
      await makeStore(file);

      const refused = await inProcess(file, '', { unprivileged: true, mode });

      expect(refused).to.match(/StoreFileError: .+ cannot be used \(EACCES/);
    });
  }

  describe('changes nothing when it only reads', () => {
    for (const [what, make] of Object.entries(ONLY_READ)) {
      it(what, async () => {
        await make(file);
        await chmod(file, 0o644);
        const before = await unchanging(folder);

        const store = await openSqliteStore(file, { mode: 'read' });
        const pet = await store.pets.findById(1n);
        const { message } = await unavailable(store.pets.add(rex));
        await store.close();

        expect(pet?.name).to.equal('Rex 0');
        expect(message).to.equal('opened to read');
        expect(await unchanging(folder)).to.deep.equal(before);
        expect(await modeOf(file)).to.equal('644');
      });
    }
  });

  it('reads what others add meanwhile, unless it is opened as a snapshot', async () => {
    const { pets } = await testStore(file);
    const reader = await testStore(file, { mode: 'read' });
    await reader.check();

    const pet = await pets.add(rex);

    expect(await reader.pets.findById(pet.id)).to.deep.equal(pet);
  });

  it('shows the same moment after it refused writes, if it was opened as a snapshot', async () => {
    const { pets } = await testStore(file);
    const pet = await pets.add(rex);
    const reader = await testStore(file, { mode: 'snapshot' });
    const read = async () => [await allPets(reader.pets), await reader.transfer.survey()];
    const before = await read();

    await pets.add(rex);
    for (const write of [
      reader.pets.add(rex),
      reader.changes.remove(pet.id, ['available']),
      reader.apiKeys.revoke('k', Date.now()),
      reader.transfer.markUnfinished(true),
    ])
      await unavailable(write);
    for (let check = 0; check < 2; check += 1) await reader.check();

    expect(await read()).to.deep.equal(before);
  });

  it('creates folders and files that no other user can read, and closes a store into one file', async () => {
    const made = join(folder, 'some', 'where');
    const path = join(made, 'animals.db');

    const store = await openSqliteStore(relative(process.cwd(), path));
    await store.pets.add(rex);

    expect(store.location).to.equal(path);
    for (const each of [made, dirname(made)]) expect(await modeOf(each), each).to.equal('700');
    for (const suffix of ['', '-wal', '-shm'])
      expect(await modeOf(path + suffix), suffix).to.equal('600');
    await store.close();
    expect(await readdir(made)).to.deep.equal(['animals.db']);
  });

  it('keeps the permissions of a folder and a file that exist', async () => {
    await chmod(folder, 0o755);
    await makeStore(file);
    await chmod(file, 0o640);

    await testStore(file);

    expect(await modeOf(folder)).to.equal('755');
    expect(await modeOf(file)).to.equal('640');
  });

  it('brings what a crash left in the log to the disk before it serves it', async () => {
    const withoutLog = join(folder, 'without-its-log.db');
    await makeUsed(file);
    const crashed = await copyAsCrashed(file);

    await testStore(crashed);

    await writeFile(withoutLog, await readFile(crashed));
    const rest = await testStore(withoutLog);
    expect(await allPets(rest.pets)).to.have.length(1);
  });

  it('opens what a crash left although the disk is full, but not if the disk fails in another way', async () => {
    await makeStore(file);
    let errcode = 13; // SQLITE_FULL
    const end = intercept('exec', (sql) => {
      if (sql === 'PRAGMA wal_checkpoint') throw Object.assign(new Error('a fault'), { errcode });
    });
    try {
      await testStore(file);

      errcode = 10; // SQLITE_IOERR
      await expectStoreFileError(openSqliteStore(file), /cannot be used \(a fault\)/);
    } finally {
      end();
    }
  });

  describe('where a program died while it wrote, with a journal', () => {
    for (const [what, make] of [
      ['a store', copyFile],
      ['a backup', backUpSqliteStore],
    ] as const) {
      it(`undoes that write in ${what}, except for reading, which names what does`, async () => {
        const left = join(folder, 'left.db');
        await makeStore(file, 2000);
        await make(file, left);
        const whole = queried(left, WHOLE);
        dieWriting(left);
        const before = await stateOf(folder);

        const problem = /was left by a program that died in a write: start/;
        await expectStoreFileError(openSqliteStore(left, { mode: 'read' }), problem);
        await expectStoreFileError(backUpSqliteStore(left, join(folder, 'new.db')), problem);
        expect(await stateOf(folder)).to.deep.equal(before);

        await (await openSqliteStore(left)).close();
        expect(queried(left, WHOLE)).to.equal(whole);
        const names = await readdir(folder);
        expect(names.filter((name) => /journal|tmp/.test(name))).to.deep.equal([]);
      });
    }

    it('leaves a store untouched beside a journal that is not its own', async () => {
      const other = join(folder, 'other.db');
      await makeStore(other, 2000);
      dieWriting(other);
      await makeStore(file, 500);

      await copyFile(`${other}-journal`, `${file}-journal`);

      await expectRefused(file, /is damaged/);
    });
  });

  for (const [when, make] of Object.entries(CUT_OFF)) {
    it(`finishes a store whose creation a crash has cut off ${when}`, async () => {
      await make(file);

      const { pets } = await testStore(file);

      expect((await pets.add(rex)).id).to.equal(1n);
    });
  }

  for (const name of [':memory:', 'file:a?mode=memory', 'a b%20#c?d.db']) {
    it(`takes the path ${name} literally, also through a symbolic link`, async () => {
      await makeStore(file);
      await rename(file, join(folder, name));
      await symlink(name, join(folder, 'link'));

      const { location, pets } = await testStore(join(folder, 'link'), { mode: 'existing' });

      expect(location).to.equal(join(folder, name));
      expect(await allPets(pets)).to.have.length(1);
    });
  }

  for (const name of ['a.db?mode=rwc', 'a.db\r', 'a.db"'])
    it(`refuses the path ${JSON.stringify(name)}, also where a file is`, async () => {
      const path = join(folder, name);
      await makeStore(file);
      await rename(file, path);

      await expectStoreFileError(openSqliteStore(path), /is no path of a store/);
      expect(await sqliteStoreFactory.check?.(`sqlite:${path}`)).to.include('must name a file');
    });

  it('creates its tables once although another process does between its look and its lock, and marks the version in that commit', async () => {
    change(file, 'PRAGMA application_id = 0x416e5374');
    const versions = new Set<unknown>();
    let executed = '';
    const end = intercept('exec', (sql) => {
      if (executed.includes('COMMIT')) versions.add(queried(file, 'PRAGMA user_version'));
      const isFirst = sql === 'BEGIN IMMEDIATE' && !executed.includes(sql);
      executed += sql;
      if (!isFirst) return;
      using other = new DatabaseSync(file);
      createSchema(other, file);
    });

    const { pets } = await testStore(file).finally(end);

    expect((await pets.add(rex)).id).to.equal(1n);
    expect([...versions], 'versions after the first commit').to.deep.equal([SCHEMA_VERSION]);
  });

  it('creates one store when three processes open it at once: every animal is there, under its own id', async () => {
    const path = join(folder, 'new', 'animals.db');
    const script = `
        const rex = { name: 'Rex', categoryId: 7n, status: 'sold' };
        for (let left = 50; left > 0; left -= 1)
          for (const pet of await Promise.all([1, 2, 3, 4].map(() => store.pets.add(rex))))
            console.log(String(pet.id));`;

    const printed = await Promise.all([1, 2, 3].map(() => inProcess(path, script)));

    const acknowledged = printed.flatMap((lines) => (lines.match(/^\d+$/gm) ?? []).map(BigInt));
    expect(acknowledged, printed.join()).to.have.length(600);
    const { pets } = await testStore(path);
    const stored = await allPets(pets);
    expect(stored.map(({ id }) => id)).to.have.members(acknowledged);
  });

  it('opens a store twice in one process, and keeps it locked against others when one of them closes', async () => {
    // POSIX: closing any descriptor of a file drops all locks of the process on it. Without them another process
    // may change the file as if it were alone (the SQLite of Node.js 22 lets it).
    const { pets } = await testStore(file);
    await pets.add(rex);
    await (await openSqliteStore(file)).close();

    const takeOver = `
        const { DatabaseSync } = require('node:sqlite');
        new DatabaseSync(process.argv[1]).exec('PRAGMA journal_mode = DELETE');`;
    const other = spawnSync(process.execPath, ['-e', takeOver, file], { encoding: 'utf8' });

    expect(other.stderr).to.include('database is locked');
    expect((await pets.add(rex)).id).to.equal(2n);
  });
});
