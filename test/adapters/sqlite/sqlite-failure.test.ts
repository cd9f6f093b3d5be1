import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { claimOn, inFolder, onConnection, onStore, rejection, rex } from './temporary-store.js';

const big = { ...rex, name: 'x'.repeat(100_000) };

/** Runs a shell command where mounts are seen by it alone, and vanish with it. */
const inOwnNamespace = (command: string, ...parameters: string[]) =>
  spawnSync('sh', ['-c', 'exec unshare -m sh -c "$0" sh "$@"', command, ...parameters], { encoding: 'utf8' });

/** What `mounting-process` prints of a scenario on a small file system of its own, mounted at `folder`. */
function runMounted(scenario: string, folder: string): Map<string, unknown> {
  const { stdout, stderr } = inOwnNamespace(
    'mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" "$3" "$4" "$1"',
    folder,
    process.execPath,
    fileURLToPath(new URL('./mounting-process.js', import.meta.url)),
    scenario,
  );
  if (stdout === '') throw new Error(stderr);
  return new Map(Object.entries(JSON.parse(stdout)));
}

describe('an SQLite store in trouble', () => {
  it(
    'refuses adds while the disk is full, keeps nothing of them, reads on, and recovers by itself',
    onConnection(async (connection, pets) => {
      const { pet } = await pets.add(rex);
      connection.prepare('PRAGMA max_page_count = 20').get();
      // All of one turn share a transaction, and so its failure: none is half kept.
      const claim = claimOn('t');
      const outcomes = await Promise.allSettled([pets.add(rex, { claim }), pets.add(big), pets.add(rex)]);
      for (const outcome of outcomes) {
        expect(outcome).to.have.property('reason').that.is.instanceOf(UnavailableError);
        expect(outcome).to.have.nested.property('reason.cause.errcode', 13);
      }
      expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
      await pets.check();
      connection.prepare('PRAGMA max_page_count = 4294967294').get();
      expect((await pets.add(rex, { claim })).replayed).to.equal(false);
      await pets.add(big);
      expect(await pets.list({ limit: 5 })).to.have.length(3);
    }),
  );

  it(
    'refuses adds while it cannot be written, reads on, and recovers by itself',
    onConnection(async (connection, pets) => {
      const { pet } = await pets.add(rex);
      connection.prepare('PRAGMA query_only = ON').get();
      const error = await rejection(pets.add(rex));
      expect(error).to.be.instanceOf(UnavailableError);
      expect(error).to.have.nested.property('cause.errcode', 8);
      expect(await pets.findById(pet.id)).to.deep.equal(pet);
      connection.prepare('PRAGMA query_only = OFF').get();
      expect((await pets.add(rex)).pet.id > pet.id).to.equal(true);
    }),
  );

  describe('on a file system of its own', () => {
    const mountable =
      process.platform === 'linux' && inOwnNamespace('mount -t tmpfs -o size=1m tmpfs /tmp').status === 0;
    const promise = (title: string, test: () => Promise<void>): void => {
      if (mountable) it(title, test);
      else it(`${title} (not run: mounting a file system takes root on Linux)`);
    };

    promise(
      'that is full: refuses adds, reads on, and adds again once there is room',
      inFolder(async (folder) => {
        const report = runMounted('full', folder);
        expect(report.get('refusal')).to.equal('UnavailableError');
        expect(report.get('kept while full')).to.equal(report.get('acknowledged'));
        expect(report.get('kept in the end')).to.equal(Number(report.get('acknowledged')) + 1);
        expect(report.get('integrity')).to.equal('ok');
      }),
    );

    promise(
      'that is read-only: refuses to open, with one clear line',
      inFolder(async (folder) => {
        const report = runMounted('read-only', folder);
        expect(report.get('existing store')).to.match(/^StoreFileError: .+animals\.db cannot be .+\.$/);
        expect(report.get('new store')).to.match(/^StoreFileError: .+new\.db cannot be .+\.$/);
        expect(report.get('unchanged')).to.equal(true);
      }),
    );
  });

  it(
    'heals a transaction that was left standing',
    onConnection(async (connection, pets) => {
      connection.prepare('BEGIN IMMEDIATE').run();
      expect(await rejection(pets.add(rex))).to.be.instanceOf(UnavailableError);
      expect((await pets.add(rex)).pet.id).to.equal(1n);
    }),
  );

  it(
    'closes also when it cannot tidy up, and loses nothing',
    onConnection(async (connection, pets) => {
      await pets.add(rex);
      connection.prepare('BEGIN IMMEDIATE').run(); // nothing can be moved out of the log within one
      await pets.close();
      const store = await openSqliteStore(connection.file);
      expect(await store.pets.list({ limit: 5 })).to.have.length(1);
      await store.close();
    }),
  );

  it(
    'notices that its file was removed, and acknowledges nothing into what is gone',
    onStore(async ({ file, pets, apiKeys }) => {
      await pets.add(rex);
      await pets.check();
      await rm(file);
      for (const call of [() => pets.check(), () => pets.add(rex), () => apiKeys.update('k', (key) => key)]) {
        const error = await rejection(call());
        expect(error).to.be.instanceOf(UnavailableError);
        expect(error).to.have.nested.property('cause.message', `${file} was removed or replaced`);
      }
      expect(await pets.list({ limit: 5 })).to.have.length(1);
    }),
  );

  it(
    'notices that its write-ahead log was removed',
    onStore(async ({ file, pets }) => {
      await pets.add(rex);
      await rm(`${file}-wal`);
      expect(await rejection(pets.add(rex))).to.be.instanceOf(UnavailableError);
      expect(await rejection(pets.check())).to.be.instanceOf(UnavailableError);
    }),
  );

  it(
    'notices that another file stands in its place, and goes on when its own is back',
    onStore(async ({ file, pets }) => {
      await pets.add(rex);
      await rename(file, `${file}.away`);
      await writeFile(file, await readFile(`${file}.away`));
      expect(await rejection(pets.add(rex))).to.be.instanceOf(UnavailableError);
      expect(await rejection(pets.check())).to.be.instanceOf(UnavailableError);
      await rename(`${file}.away`, file);
      await pets.check();
      expect((await pets.add(rex)).pet.id).to.equal(2n);
    }),
  );

  it(
    'says so when it meets noise while reading, and reads on elsewhere',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      const first = await openSqliteStore(file);
      for (let index = 0; index < 400; index += 1) {
        void first.pets.add({ ...rex, name: `${index} ${'x'.repeat(1000)}` });
      }
      await first.close();
      const store = await openSqliteStore(file);
      const content = await readFile(file);
      await writeFile(file, content.fill(0xa5, content.length - 40 * 4096));
      const error = await rejection(store.pets.list({ limit: 400 }));
      expect(error).to.be.instanceOf(UnavailableError);
      expect(error).to.have.nested.property('cause.errcode', 11);
      expect(await store.pets.list({ limit: 5 })).to.have.length(5);
      await store.close();
    }),
  );
});
