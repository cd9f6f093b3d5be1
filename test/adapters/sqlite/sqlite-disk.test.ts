import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { backUpSqliteStore } from '../../../src/adapters/sqlite/index.js';
import { unavailable } from '../unavailable.js';
import {
  cleanUp,
  closedStore,
  countOf,
  inOtherProcess,
  open,
  refused,
  rex,
  testFile,
  testFolder,
} from './test-store.js';

const succeeds = (command: string): boolean => spawnSync(command, { shell: true }).status === 0;

/** Fills the disk of a folder. Returns the function that empties it. */
function fill(folder: string): () => void {
  const file = join(folder, 'fill');
  const descriptor = fs.openSync(file, 'w');
  try {
    for (;;) fs.writeSync(descriptor, Buffer.alloc(1024));
  } catch {
    // full
  } finally {
    fs.closeSync(descriptor);
  }
  return () => fs.rmSync(file);
}

/** The system calls of a script that write, sync and name files, or print `done`, each as `CALL NAME`. */
async function traced(file: string, script: string): Promise<readonly string[]> {
  const log = testFile();
  const trace = 'trace=write,pwrite64,fsync,fdatasync,link,rename,mkdir';
  await inOtherProcess(file, script, 'strace', '-f', '-y', '-e', trace, '-o', log);
  return fs
    .readFileSync(log, 'utf8')
    .split('\n')
    .map((line) => {
      // 12 fsync(5</tmp/x/animals.db>) = 0, or: 12 link("/tmp/x/animals.db", "/tmp/x/other.db") = 0
      const [, call, path = ''] = /(\w+)\((?:\d+<)?"?([^>"]*)/.exec(line) ?? [];
      return line.includes('"done') ? 'done' : `${call} ${path.replace(dirname(file), '')}`;
    });
}

describe('An SQLite store on a full disk', () => {
  let folder = '';
  before(function () {
    folder = fs.mkdtempSync(join(dirname(testFolder()), 'animal-store-full-'));
    if (!succeeds(`mount -t tmpfs -o size=2m tmpfs ${folder}`)) this.skip(); // only root may
  });
  afterEach(cleanUp);
  after(() => {
    succeeds(`umount --lazy ${folder}`);
    fs.rmdirSync(folder);
  });

  it('refuses writes but still reads, and writes again when there is space', async () => {
    const store = await open(join(folder, 'writes.db'));
    await store.pets.add(rex);
    const empty = fill(folder);
    const large = { ...rex, name: 'x'.repeat(5000) };
    const both = [store.pets.add(large), store.changes.change(1n, large, undefined)];
    for (const cause of await Promise.all(both.map(unavailable)))
      expect(cause).to.match(/disk is full/);
    expect(await countOf(store)).to.equal(1);
    await store.check();
    empty();
    expect((await store.pets.add(large)).id).to.equal(2n);
  });

  it('opens a store that a crash has left, for reading', async () => {
    const file = join(folder, 'crash.db');
    await inOtherProcess(
      file,
      `const { pets } = await openSqliteStore(file);
      for (let count = 0; count < 20; count += 1) await pets.add({ ...rex, name: 'x'.repeat(1000) });
      process.kill(process.pid, 'SIGKILL');`,
    );
    const empty = fill(folder);
    expect(await countOf(await open(file))).to.equal(20);
    empty();
  });

  it('says that the disk is full when it opens, creates or copies a store', async () => {
    const file = await closedStore(join(folder, 'closed.db'));
    const other = await closedStore();
    const empty = fill(folder);
    for (const mode of ['create', 'existing', 'read'] as const)
      await refused(open(file, { mode }), 'cannot be used: the disk is full', false);
    await refused(open(join(folder, 'new.db')), 'cannot be used: the disk is full', false);
    for (const [source, target] of [
      [file, testFile()],
      [other, join(folder, 'copy.db')],
    ] as const)
      await refused(
        backUpSqliteStore(source, target),
        `copied to ${target}: the disk is full`,
        false,
      );
    empty();
    expect(await backUpSqliteStore(file, join(folder, 'copy.db'))).to.equal(3);
  });
});

describe('An SQLite store syncs', () => {
  before(function () {
    if (!succeeds('strace -f true')) this.skip(); // needs strace, and leave to trace
  });
  afterEach(cleanUp);

  it('a new folder, its file and every animal before it acknowledges the animal', async () => {
    const file = join(testFolder(), 'new', 'animals.db');
    const calls = await traced(
      file,
      `import { writeSync } from 'node:fs';
      const { pets } = await openSqliteStore(file);
      await pets.add(rex);
      writeSync(1, 'done');`,
    );
    expect(calls).to.include('done');
    const before = calls.slice(0, calls.indexOf('done'));
    const log = '/animals.db-wal';
    expect(before).to.include.members([`fsync ${dirname(dirname(file))}`, 'fsync ']);
    expect(before.lastIndexOf(`fsync ${log}`)).to.be.above(before.lastIndexOf(`pwrite64 ${log}`));
  });

  it('a backup before it links it at its target', async () => {
    const file = await closedStore();
    const calls = await traced(file, "await backUpSqliteStore(file, file + '.copy');");
    const part = /animals\.db\.copy\..*\.part$/;
    const last = (call: string): number =>
      calls.findLastIndex((line) => line.startsWith(call) && part.test(line));
    expect(last('link')).to.be.above(last('fsync'));
    expect(last('fsync')).to.be.above(last('pwrite64'));
    expect(calls.lastIndexOf('fsync ')).to.be.above(last('link'));
  });
});
