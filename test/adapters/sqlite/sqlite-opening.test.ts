import { expect } from 'chai';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { backUpSqliteStore, sqliteStoreFactory } from '../../../src/adapters/sqlite/index.js';
import type { OpenMode } from '../../../src/application/ports/store.js';
import { rejectionOf } from '../../contract/rejection.js';
import { unavailable } from '../unavailable.js';
import {
  cleanUp,
  closedStore,
  connect,
  countOf,
  modesOf,
  open,
  refused,
  rex,
  stateOf,
  testFile,
  testFolder,
} from './test-store.js';

const MODES: readonly OpenMode[] = ['create', 'existing', 'read'];

/** Copies a database that is open, as a crash would leave it. */
function copyAsCrashed(file: string, copy: string): void {
  for (const suffix of ['', '-wal', '-journal'])
    if (fs.existsSync(file + suffix)) fs.copyFileSync(file + suffix, copy + suffix);
}

/** Changes a closed store by SQL. */
const changed = (sql: string) => async (file: string) => {
  connect(await closedStore(file), sql).close();
};

const TRIGGER = 'CREATE TRIGGER cats AFTER INSERT ON pets BEGIN DELETE FROM pets; END';

/** What cannot be a store: how it is made, and why it is refused. */
const REFUSED: Readonly<Record<string, [(file: string) => unknown, RegExp]>> = {
  'a text': [
    (file) => fs.writeFileSync(file, 'id,name\n'.repeat(1000)),
    /cannot be used: file is not a database/,
  ],
  'the database of another program, left by a crash': [
    (file) => {
      using other = connect(`${file}.other`, 'PRAGMA journal_mode = WAL; CREATE TABLE notes (a)');
      expect(other.isOpen).to.equal(true);
      copyAsCrashed(`${file}.other`, file);
    },
    /is not a store of this program: name another file/,
  ],
  'a newer store': [
    changed('PRAGMA user_version = 5'),
    /has schema version 5, not 4: use the version of this program that wrote it/,
  ],
  'a store of 0.3': [changed('PRAGMA user_version = 3'), /has schema version 3, not 4/],
  'a store with a trigger': [changed(TRIGGER), /has the trigger cats, .*: drop it/],
  'a damaged store': [
    async (file) => {
      const bytes = fs.readFileSync(await closedStore(file));
      fs.writeFileSync(file, bytes.fill(0xa5, 100, 600));
    },
    /cannot be used: database disk image is malformed/,
  ],
  'a backup beside the log of the store before it': [
    async (file) => {
      const { pets, location } = await open(`${file}.other`);
      await pets.add(rex);
      await backUpSqliteStore(location, file);
      fs.copyFileSync(`${location}-wal`, `${file}-wal`);
    },
    /is not the file of .*animals\.db-wal: put back the file of that log, or move the log away/,
  ],
  'a link to a backup beside such a log': [
    async (file) => {
      const { pets, location } = await open(`${file}.other`);
      await pets.add(rex);
      await backUpSqliteStore(location, `${file}.real`);
      fs.copyFileSync(`${location}-wal`, `${file}.real-wal`);
      fs.symlinkSync(`${file}.real`, file);
    },
    /is not the file of .*animals\.db\.real-wal/,
  ],
  'a log without its file': [
    (file) => fs.writeFileSync(`${file}-wal`, 'animals'),
    /is not the file of .*animals\.db-wal/,
  ],
};

describe('Opening an SQLite store', () => {
  afterEach(cleanUp);

  for (const [what, [make, problem]] of Object.entries(REFUSED))
    it(`refuses ${what} in every mode, and changes nothing`, async () => {
      const file = testFile();
      await make(file);
      const before = stateOf(dirname(file));
      for (const mode of MODES) await refused(open(file, { mode }), problem);
      expect(stateOf(dirname(file))).to.deep.equal(before);
    });

  it('refuses a link whose file was moved away, and leaves the log of that file', async () => {
    const file = testFile();
    fs.symlinkSync(`${file}.real`, file);
    fs.writeFileSync(`${file}.real-wal`, 'animals');
    for (const mode of MODES)
      await refused(open(file, { mode }), 'is a link to a file that does not exist');
    expect(fs.readFileSync(`${file}.real-wal`, 'utf8')).to.equal('animals');
  });

  it('creates a store only in mode create', async () => {
    const file = testFile();
    for (const mode of ['existing', 'read'] as const)
      await refused(open(file, { mode }), 'does not exist: name the file of a store');
    expect(fs.readdirSync(dirname(file))).to.deep.equal([]);
  });

  it('refuses texts that name no file, and unknown modes, in one line', async () => {
    for (const path of ['', ':memory:', '//host/animals.db'])
      await refused(sqliteStoreFactory.open(`sqlite:${path}`), `'${path}' names no file`);
    const url = new URL('file:///animals.db') as unknown as string;
    expect(String(await rejectionOf(open(url)))).to.match(/string. Received an instance of URL/);
    const mode = 'write' as OpenMode;
    expect(await rejectionOf(open(testFile(), { mode }))).to.be.instanceOf(TypeError);
  });

  it('creates files and folders for their owner alone, and changes no permissions of others', async () => {
    const folder = join(testFolder(), 'new', 'deep');
    const file = join(folder, 'animals.db');
    const { location, pets, close } = await open(file);
    await pets.add(rex);
    expect(location).to.equal(file);
    expect(modesOf(dirname(folder), folder)).to.deep.equal(['700', '700']);
    expect(modesOf(file, `${file}-wal`, `${file}-shm`)).to.deep.equal(['600', '600', '600']);
    await close();
    fs.chmodSync(folder, 0o750);
    fs.chmodSync(file, 0o640);
    const again = await open(file);
    await again.pets.add(rex);
    expect(modesOf(folder, file, `${file}-wal`)).to.deep.equal(['750', '640', '640']);
  });

  it('opens what a crash has left, with all that was acknowledged', async () => {
    const file = testFile();
    const { pets } = await open(file);
    for (let count = 0; count < 20; count += 1) await pets.add(rex);
    copyAsCrashed(file, `${file}.copy`);
    const copy = await open(`${file}.copy`);
    expect(await countOf(copy)).to.equal(20);
    expect((await copy.pets.add(rex)).id).to.equal(21n);
  });

  it('rolls back a write that a crash has left unfinished', async () => {
    const file = testFile();
    await backUpSqliteStore(await closedStore(), file);
    const sql = "BEGIN; UPDATE pets SET name = printf('%.*c', 99999, 'x')";
    using other = connect(file, `PRAGMA cache_size = 1; ${sql}`);
    copyAsCrashed(file, `${file}.copy`);
    expect(other.isTransaction && fs.existsSync(`${file}.copy-journal`)).to.equal(true);
    const { pets } = await open(`${file}.copy`);
    expect(await pets.findById(1n)).to.deep.equal({ id: 1n, ...rex });
  });

  it('finishes creating a store after a crash', async () => {
    const file = testFile();
    connect(file, 'PRAGMA journal_mode = WAL').close();
    expect(fs.statSync(file).size).to.be.greaterThan(0);
    expect((await (await open(file)).pets.add(rex)).id).to.equal(1n);
  });

  it('shows the same moment to all reads in mode read, and refuses writes', async () => {
    const file = await closedStore();
    const store = await open(file);
    const reader = await open(file, { mode: 'read' });
    expect(await countOf(reader)).to.equal(3);
    await store.pets.add(rex);
    await store.apiKeys.add({ id: 'k', name: 'k', hash: 'h', scopes: [], createdAt: 1 });

    expect(await unavailable(reader.pets.add(rex))).to.match(/opened to read/);
    await reader.check();

    expect(await countOf(reader)).to.equal(3);
    expect(await reader.apiKeys.list()).to.deep.equal([]);
    expect(await countOf(await open(file, { mode: 'read' }))).to.equal(4);
  });
});
