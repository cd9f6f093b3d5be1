import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  readFile,
  readdir,
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
import type { OpenOptions } from '../../../src/application/ports/store.js';
import {
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
  testFile,
  testFolder,
  testStore,
  unavailable,
} from './temporary-store.js';

/** A closed store that holds `count` animals. */
async function makeStore(file: string, count = 1): Promise<void> {
  const store = await openSqliteStore(file);
  await Promise.all(
    Array.from({ length: count }, (_, index) => store.pets.add({ ...rex, name: `Rex ${index}` })),
  );
  await store.close();
}

/** Opening must fail with one clear line, change no byte of the file or beside it, and leave nothing new there. */
async function expectRefused(file: string, problem: RegExp, options?: OpenOptions): Promise<void> {
  const before = await stateOf(dirname(file));
  const error = await expectStoreFileError(openSqliteStore(file, options), problem);
  expect(error).to.have.property('file', file);
  expect(String(error)).to.include(file);
  expect(await stateOf(dirname(file))).to.deep.equal(before);
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

const makeText = (file: string): Promise<void> => writeFile(file, 'dear diary '.repeat(999));

const makeOther = async (file: string): Promise<void> => otherDatabase(file, '').close();

const makeShort = async (file: string): Promise<void> => {
  await makeStore(file, 500);
  await truncate(file, 16_384);
};

const makeNoisy = async (file: string): Promise<void> => {
  await makeStore(file, 5000);
  await damage(file);
};

const makeLog = (file: string): Promise<void> => writeFile(`${file}-wal`, 'acknowledged animals');

const makeJournal = (file: string): Promise<void> =>
  writeFile(`${file}-journal`, 'animals to restore');

/** Opens a store in a process of its own, runs `script` there, and closes it. Resolves to what became of it. */
async function inProcess(file: string, script: string, options = {}): Promise<string> {
  const whole = `
    const { openSqliteStore } = await import('${import.meta.resolve('../../../src/adapters/sqlite/index.js')}');
    const options = ${JSON.stringify(options)};
    // The permissions of files do not bind root.
    if (options.unprivileged && process.getuid() === 0) process.setuid(65534);
    const store = await openSqliteStore(process.argv[1], options);
    ${script}
    await store.close();`;
  const { stdout, stderr } = spawn(process.execPath, ['--input-type=module', '-e', whole, file]);
  return (await Promise.all([text(stdout), text(stderr)])).join('');
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
  expect(spawnSync(process.execPath, ['-e', script, file]).signal).to.equal('SIGKILL');
}

describe('openSqliteStore', () => {
  afterEach(cleanUp);

  describe('refuses with one clear line, and leaves untouched,', () => {
    for (const [what, make, problem] of [
      ['a text', makeText, /\(file is not a database\): make sure that it is a sound store/],
      [
        'the database of another program',
        makeOther,
        /is the SQLite database of another program \(its application id is 0, not 1097749364, which .dump drops\): name/,
      ],
      ['a store cut short', makeShort, /\(database disk image is malformed\): make sure/],
      ['a store with noise in its pages', makeNoisy, /is damaged \(.+\): restore a backup/],
    ] as const) {
      it(what, async () => {
        const { file } = testFile();
        await make(file);
        await expectRefused(file, problem);
      });
    }

    it('a database that another program is writing to, with a journal or a log', async () => {
      const folder = testFolder();
      for (const mode of ['DELETE', 'WAL']) {
        const file = join(folder, `${mode}.db`);
        const other = otherDatabase(file, `PRAGMA journal_mode = ${mode}`);
        other.exec('BEGIN IMMEDIATE; INSERT INTO pets VALUES (1)');
        await expectRefused(file, /is the SQLite database of another program/);
        other.close();
      }
    });

    it('what another program has not finished writing after a crash', async () => {
      const { folder, file } = testFile();
      const crashed = join(folder, 'crashed.db');
      const other = otherDatabase(file, 'PRAGMA cache_size = 1; PRAGMA cache_spill = 1');
      other.exec('BEGIN; CREATE TABLE t (x); INSERT INTO t SELECT hex(zeroblob(500000))');
      await copyAsCrashed(file, crashed, ['', '-journal']);
      other.close();
      await expectRefused(crashed, /is the SQLite database of another program/);
    });

    it('a damaged store with the log of a crash, and a newer store whose version is only in the log', async () => {
      const { folder, file } = testFile();
      await makeStore(file, 500);
      const other = new DatabaseSync(file);
      other.exec('PRAGMA user_version = 9');
      const crashed = join(folder, 'crashed.db');
      await copyAsCrashed(file, crashed);
      other.close();
      await expectRefused(crashed, /has schema version 9, newer than/);
      await damage(crashed);
      const log = new DatabaseSync(crashed);
      log.exec('PRAGMA user_version = 1');
      await expectRefused(crashed, /is damaged/);
      log.close();
    });

    it('a file with a second hard link, which a process could use beside the log of the first', async () => {
      const { folder, file } = testFile();
      const other = join(folder, 'other.db');
      await makeStore(file);
      await link(file, other);
      for (const name of [file, other])
        await expectRefused(name, /has more than one hard link: remove/);
      await (await openSqliteStore(file, { mode: 'read' })).close();
      await rm(other);
      await (await openSqliteStore(file)).close();
    });

    it('a file that is itself a mount point', async function () {
      const folder = testFolder();
      const [file, mounted] = [join(folder, 'a', 'animals.db'), join(folder, 'b c', 'animals.db')];
      for (const made of [file, mounted]) await makeStore(made);
      const mount = 'mount --bind "$0" "$1" && shift && exec "$@"';
      const inNamespace = ['--map-root-user', '--mount', 'sh', '-c', mount, file, mounted];
      if (spawnSync('unshare', [...inNamespace, 'true']).status !== 0) return this.skip();
      const open = `
          const { openSqliteStore } = await import('${import.meta.resolve('../../../src/adapters/sqlite/index.js')}');
          await openSqliteStore(process.argv[1]).catch(({ message }) => console.log(message));`;
      const node = [process.execPath, '--input-type=module', '-e', open, mounted];
      const { stdout } = spawnSync('unshare', [...inNamespace, ...node], { encoding: 'utf8' });
      expect(stdout).to.equal(
        `${mounted} is itself a mount point: mount the folder of the store, not the file.\n`,
      );
    });

    it('a backup that was copied over a store whose log is beside it, for reading, too', async () => {
      const { folder, file } = testFile();
      const [backup, crashed] = [join(folder, 'backup.db'), join(folder, 'crashed.db')];
      await makeStore(file);
      await backUpSqliteStore(file, backup);
      const { pets } = await testStore(file);
      await pets.add(rex);
      await copyAsCrashed(file, crashed);
      await writeFile(crashed, await readFile(backup));
      const problem = /is not the file that .+-wal belongs to: remove that log, or put its own/;
      for (const mode of ['create', 'read', 'existing'] as const)
        await expectRefused(crashed, problem, { mode });
      await expectStoreFileError(backUpSqliteStore(crashed, join(folder, 'new.db')), problem);
      await rm(`${crashed}-wal`);
      expect(await (await testStore(crashed)).pets.list({ limit: 5 })).to.have.length(1);
    });

    it('an empty file beside a log, or where a store must exist', async () => {
      const { file } = testFile();
      await writeFile(file, '');
      await expectRefused(file, /is empty: name the file of a store/, { mode: 'existing' });
      await makeLog(file);
      await expectRefused(file, /is empty, but .+-wal exists: restore a backup/);
    });
  });

  it('refuses a URL in place of a path', async () => {
    const folder = testFolder();
    const opening = openSqliteStore(`sqlite:${folder}/a.db`);
    await expectStoreFileError(opening, /is a URL: give the path in it alone/);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  for (const [what, make, path, problem, options] of [
    ['a folder', (folder: string) => mkdir(folder), 'folder', /is not a regular file: name/],
    [
      'a path through a file',
      (path: string) => writeFile(dirname(path), ''),
      'file/a.db',
      /used \(ENOTDIR/,
    ],
    [
      'a link that leads nowhere',
      (path: string) => symlink('nowhere', path),
      'link',
      /used \(ENOENT/,
    ],
    [
      'a store beside the log of one that is gone',
      makeLog,
      'a.db',
      /is missing, but .+-wal exists: put the/,
    ],
    [
      'a path too long for SQLite',
      async () => {},
      `${'ä/'.repeat(165)}a.db`,
      /is longer than 504 bytes/,
    ],
    [
      'a store beside the journal of one that is gone',
      makeJournal,
      'a.db',
      /but .+-journal exists: put the/,
    ],
    [
      'a store that must exist',
      async () => {},
      'none/a.db',
      /does not exist: name/,
      { mode: 'existing' },
    ],
    [
      'a store that is only read',
      async () => {},
      'none/a.db',
      /does not exist: name/,
      { mode: 'read' },
    ],
    [
      'a store of which a snapshot is read',
      async () => {},
      'none/a.db',
      /does not exist: name/,
      { mode: 'snapshot' },
    ],
    [
      'a store in an empty file that is only read',
      (file: string) => writeFile(file, ''),
      'a.db',
      /is empty: name/,
      { mode: 'snapshot' },
    ],
  ] as const) {
    it(`refuses to create ${what}, and creates no folder`, async () => {
      const folder = testFolder();
      await make(join(folder, path));
      const before = await readdir(folder);
      await expectStoreFileError(openSqliteStore(join(folder, path), options), problem);
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
    const folder = testFolder();
    const file = join(folder, 'a b%20#c?d.db');
    await makeStore(file);
    await chmod(folder, 0o777);
    await chmod(file, 0o444);
    const script = 'for (const pet of await store.pets.list({ limit: 5 })) console.log(pet.name);';
    expect(await inProcess(file, script, { unprivileged: true })).to.match(
      /StoreFileError: .+ cannot be used \(EACCES.+ can be written/,
    );
    expect(await readdir(folder)).to.deep.equal([basename(file)]);
    await chmod(folder, 0o555); // as on a medium that cannot be written
    const reading = () => inProcess(file, script, { unprivileged: true, mode: 'read' });
    expect(await reading()).to.match(/^Rex 0\n/);
    for (const path of [folder, file]) await chmod(path, 0o755);
    const other = await testStore(file);
    await other.pets.add({ ...rex, name: 'in the log' });
    await chmod(folder, 0o555);
    expect(await reading()).to.match(/^Rex 0\nin the log\n/);
    await chmod(folder, 0o755);
  });

  it('names the true reason when it may not look into the folder of a store', async () => {
    const { file } = testFile();
    await makeStore(file);
    for (const options of [{ mode: 'existing' }, {}]) {
      const refused = inProcess(file, '', { unprivileged: true, ...options });
      expect(await refused).to.match(/StoreFileError: .+ cannot be used \(EACCES/);
    }
  });

  it('changes nothing of a store that it only reads: a closed one, one in use, what a crash left, a backup', async () => {
    const folder = testFolder();
    const [closed, crashed] = [join(folder, 'closed.db'), join(folder, 'crashed.db')];
    const [used, backup] = [join(folder, 'used.db'), join(folder, 'backup.db')];
    await makeStore(closed);
    await backUpSqliteStore(closed, backup);
    const other = await testStore(used);
    await other.pets.add({ ...rex, name: 'Rex 0' });
    await copyAsCrashed(used, crashed, ['', '-wal']);
    const names = await readdir(folder);
    for (const file of [closed, crashed, used, backup]) {
      await chmod(file, 0o644);
      const state = async (): Promise<string> =>
        (await Promise.all([readFile(file), readFile(`${file}-wal`).catch(() => 'none')])).join();
      const before = await state();
      const store = await openSqliteStore(file, { mode: 'read' });
      expect((await store.pets.findById(1n))?.name, file).to.equal('Rex 0');
      expect(String(await unavailable(store.pets.add(rex)))).to.equal('Error: opened to read');
      await store.close();
      expect(before === (await state()), file).to.equal(true);
      expect(await modeOf(file)).to.equal('644');
    }
    const left = (await readdir(folder)).filter((name) => name !== 'crashed.db-shm');
    expect(left).to.deep.equal(names);
    const reader = await testStore(used, { mode: 'read' });
    await reader.check();
    const pet = await other.pets.add(rex);
    expect(await reader.pets.findById(pet.id), 'what others add meanwhile').to.deep.equal(pet);
  });

  it('shows the same moment after it refused writes, if it was opened as a snapshot', async () => {
    const { pets, file } = await testStore();
    const pet = await pets.add(rex);
    const reader = await testStore(file, { mode: 'snapshot' });
    const read = async () => [await reader.pets.list({ limit: 5 }), await reader.transfer.survey()];
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
    const folder = testFolder();
    await mkdir(join(folder, 'old'));
    await chmod(join(folder, 'old'), 0o755);
    const file = join(folder, 'old', 'some', 'where', 'animals.db');
    const store = await openSqliteStore(relative(process.cwd(), file));
    expect(store.location).to.equal(file);
    await store.pets.add(rex);
    for (const made of [dirname(file), dirname(dirname(file))])
      expect(await modeOf(made)).to.equal('700');
    for (const suffix of ['', '-wal', '-shm']) expect(await modeOf(file + suffix)).to.equal('600');
    await store.close();
    expect(await readdir(dirname(file))).to.deep.equal(['animals.db']);
    // The modes of what exists stay.
    expect(await modeOf(join(folder, 'old'))).to.equal('755');
    await chmod(file, 0o640);
    await (await openSqliteStore(file)).close();
    expect(await modeOf(file)).to.equal('640');
  });

  it('brings what a crash left in the log to the disk before it serves it', async () => {
    const { folder, file } = testFile();
    const [crashed, alone] = [join(folder, 'crashed.db'), join(folder, 'without-its-log.db')];
    const store = await openSqliteStore(file);
    await store.pets.add(rex);
    await copyAsCrashed(file, crashed, ['', '-wal']);
    await store.close();
    const opened = await openSqliteStore(crashed);
    await writeFile(alone, await readFile(crashed));
    await opened.close();
    const rest = await testStore(alone);
    expect(await rest.pets.list({ limit: 5 })).to.have.length(1);
  });

  it('opens what a crash left although the disk is full, but not if the disk fails in another way', async () => {
    const { file } = testFile();
    await makeStore(file);
    let errcode = 13; // SQLITE_FULL
    const end = intercept('exec', (sql) => {
      if (sql === 'PRAGMA wal_checkpoint') throw Object.assign(new Error('a fault'), { errcode });
    });
    try {
      await makeStore(file);
      errcode = 10; // SQLITE_IOERR
      await expectStoreFileError(openSqliteStore(file), /cannot be used \(a fault\)/);
    } finally {
      end();
    }
  });

  describe('where a program died while it wrote, with a journal', () => {
    it('undoes that write, except for reading, which names what does', async () => {
      const { folder, file } = testFile();
      const backup = join(folder, 'backup.db');
      await makeStore(file, 2000);
      await backUpSqliteStore(file, backup);
      for (const left of [file, backup]) {
        const whole = queried(left, WHOLE);
        dieWriting(left);
        const before = await stateOf(folder);
        for (const reading of [
          openSqliteStore(left, { mode: 'read' }),
          backUpSqliteStore(left, join(folder, 'new.db')),
        ])
          await expectStoreFileError(reading, /was left by a program that died in a write: start/);
        expect(await stateOf(folder)).to.deep.equal(before);
        await (await openSqliteStore(left)).close();
        expect(queried(left, WHOLE)).to.equal(whole);
      }
      expect((await readdir(folder)).filter((name) => /journal|tmp/.test(name))).to.deep.equal([]);
    });

    it('leaves a store untouched beside a journal that is not its own', async () => {
      const { folder, file } = testFile();
      const other = join(folder, 'other.db');
      await makeStore(other, 2000);
      dieWriting(other);
      await makeStore(file, 500);
      await writeFile(`${file}-journal`, await readFile(`${other}-journal`));
      await expectRefused(file, /is damaged/);
    });
  });

  it('finishes a store whose creation a crash has cut off', async () => {
    const { folder, file } = testFile();
    const log = join(folder, 'log.db'); // an empty log alone, which a power cut left
    await writeFile(`${log}-wal`, '');
    await makeStore(log);
    await writeFile(file, ''); // before its first page
    await makeStore(file);
    const marked = join(folder, 'marked.db'); // between its first page and its schema
    change(marked, 'PRAGMA application_id = 0x416e5374');
    await makeStore(marked);
  });

  it('takes a path literally, whatever SQLite or a URL would read into it, and finds it through a symbolic link', async () => {
    const folder = testFolder();
    for (const [index, name] of [':memory:', 'file:a?mode=memory', 'a b%20#c?d.db'].entries()) {
      await makeStore(join(folder, name));
      await symlink(name, join(folder, `${index}`));
      const { location, pets } = await testStore(join(folder, `${index}`), { mode: 'existing' });
      expect(location).to.equal(join(folder, name));
      expect(await pets.list({ limit: 5 }), name).to.have.length(1);
    }
  });

  it('creates one store when three processes open it at once: every animal is there, under its own id', async () => {
    const folder = testFolder();
    const file = join(folder, 'new', 'animals.db');
    const script = `
        const rex = { name: 'Rex', categoryId: 7n, status: 'sold' };
        for (let left = 50; left > 0; left -= 1)
          for (const pet of await Promise.all([1, 2, 3, 4].map(() => store.pets.add(rex))))
            console.log(String(pet.id));`;
    const printed = await Promise.all([1, 2, 3].map(() => inProcess(file, script)));
    const acknowledged = printed.flatMap((lines) => (lines.match(/^\d+$/gm) ?? []).map(BigInt));
    expect(acknowledged).to.have.length(600);
    const { pets } = await testStore(file);
    const ids = (await pets.list({ limit: 1000 })).map(({ id }) => id);
    expect(acknowledged.sort((one, other) => Number(one - other))).to.deep.equal(ids);
  });

  it('opens a store twice in one process, and keeps it locked against others when one of them closes', async () => {
    // POSIX: closing any descriptor of a file drops all locks of the process on it. Without them another process
    // may change the file as if it were alone (the SQLite of Node.js 22 lets it).
    const { file } = testFile();
    const { pets } = await testStore(file);
    await pets.add(rex);
    await (await openSqliteStore(file)).close();
    const takeOver = `
        const { DatabaseSync } = require('node:sqlite');
        new DatabaseSync(process.argv[1]).exec('PRAGMA journal_mode = DELETE');
      `;
    const other = spawnSync(process.execPath, ['-e', takeOver, file], { encoding: 'utf8' });
    expect(other.stderr).to.include('database is locked');
    expect((await pets.add(rex)).id).to.equal(2n);
  });
});
