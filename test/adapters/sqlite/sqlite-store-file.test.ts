import { expect } from 'chai';
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, readFile, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { openSqliteConnection } from '../../../src/adapters/sqlite/open-sqlite-connection.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.js';
import { SqlitePetRepository } from '../../../src/adapters/sqlite/sqlite-pet-repository.js';
import { StoreFileError } from '../../../src/adapters/sqlite/store-file-error.js';
import { inFolder, rejection, rex } from './temporary-store.js';

const NEWEST = MIGRATIONS.length;

/** A closed store that holds `count` animals. */
async function makeStore(file: string, count = 1): Promise<void> {
  const store = await openSqliteStore(file);
  await Promise.all(
    Array.from({ length: count }, (_, index) => store.pets.add({ ...rex, name: `Rex ${index}` })),
  );
  await store.close();
}

/** Opening must fail with one clear line, and leave the file to the byte and nothing new beside it. */
async function expectRefused(file: string, problem: RegExp): Promise<void> {
  const before = await readFile(file);
  const beside = await readdir(dirname(file));
  const error = await rejection(openSqliteStore(file));
  expect(error).to.be.instanceOf(StoreFileError);
  expect(error).to.have.property('file', file);
  expect(error).to.have.property('message').that.matches(problem).and.does.not.include('\n');
  expect(String(error)).to.include(file);
  expect(before.equals(await readFile(file)), 'the file is unchanged').to.equal(true);
  expect(await readdir(dirname(file))).to.deep.equal(beside);
}

/** Writes bytes over those at `offset`. */
async function patch(file: string, offset: number, bytes: Uint8Array): Promise<void> {
  const content = await readFile(file);
  content.set(bytes, offset);
  await writeFile(file, content);
}

/** Root may write everything, so as root the test is somebody else meanwhile. */
async function withoutPrivilege(use: () => Promise<void>): Promise<void> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    await use();
  } finally {
    if (root) process.seteuid?.(0);
  }
}

/** Runs a test on a store whose file cannot be written, in a folder that can be. */
const onReadOnlyStore = (test: (file: string) => Promise<void>): (() => Promise<void>) =>
  inFolder(async (folder) => {
    const file = join(folder, 'animals.db');
    await makeStore(file);
    await chmod(folder, 0o777);
    await chmod(file, 0o444);
    await withoutPrivilege(() => test(file));
  });

describe('opening an SQLite store', () => {
  describe('refuses, and leaves to the byte,', () => {
    const refusals: [string, (file: string) => Promise<void>, RegExp][] = [
      ['an empty file', (file) => writeFile(file, ''), /is empty: remove it/],
      [
        'a file of a few bytes',
        (file) => writeFile(file, 'hello'),
        /is not an SQLite database: name another/,
      ],
      [
        'a text',
        (file) => writeFile(file, 'dear diary '.repeat(999)),
        /is not an SQLite database: name another/,
      ],
      [
        'the database of another program',
        async (file) => {
          const other = new DatabaseSync(file);
          other.exec('CREATE TABLE pets (id INTEGER PRIMARY KEY)');
          other.close();
        },
        /is the SQLite database of another program/,
      ],
      [
        'a header cut short',
        async (file) => {
          await makeStore(file);
          await truncate(file, 60);
        },
        /is cut short \(it has only 60 bytes\)/,
      ],
      [
        'a file cut short',
        async (file) => {
          await makeStore(file, 500);
          await truncate(file, 16_384);
        },
        /is cut short \(16384 bytes of \d+\): put back a sound copy/,
      ],
      [
        'a store of a newer version',
        async (file) => {
          await makeStore(file);
          await patch(file, 60, Uint8Array.of(0, 0, 1, 0));
        },
        new RegExp(`has schema version 256, newer than ${NEWEST}`),
      ],
      [
        'a store with noise in its pages',
        async (file) => {
          await makeStore(file, 500);
          const { length } = await readFile(file);
          await patch(file, length - 8192, new Uint8Array(8192).fill(0xa5));
        },
        /is damaged \(.+\): put back a sound copy/,
      ],
    ];
    for (const [what, write, problem] of refusals) {
      it(
        what,
        inFolder(async (folder) => {
          const file = join(folder, 'animals.db');
          await write(file);
          await expectRefused(file, problem);
        }),
      );
    }

    it(
      'a store with noise in its pages that another process left open',
      inFolder(async (folder) => {
        const file = join(folder, 'animals.db');
        await makeStore(file, 500);
        const { length } = await readFile(file);
        const other = new DatabaseSync(file);
        other.exec('UPDATE pets SET category_id = 8 WHERE id = 1');
        await patch(file, length - 8192, new Uint8Array(8192).fill(0xa5));
        await expectRefused(file, /is damaged/);
        other.close();
      }),
    );
  });

  it(
    'refuses a folder, a path through a file and a link that leads nowhere',
    inFolder(async (folder) => {
      expect(String(await rejection(openSqliteStore(folder)))).to.match(
        /^StoreFileError: .+ is not a regular file/,
      );
      await writeFile(join(folder, 'file'), '');
      await symlink('nowhere', join(folder, 'link'));
      for (const path of ['file/animals.db', 'link']) {
        expect(await rejection(openSqliteStore(join(folder, path)))).to.be.instanceOf(StoreFileError);
      }
      expect(await readdir(folder)).to.have.members(['file', 'link']);
    }),
  );

  it(
    'refuses to make a store beside the log of one that is gone',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      await writeFile(`${file}-wal`, 'what was answered last');
      expect(String(await rejection(openSqliteStore(file)))).to.match(/is missing, but .+-wal is there/);
      expect(await readdir(folder)).to.deep.equal(['animals.db-wal']);
    }),
  );

  it(
    'makes a new store with the folders it is in, and says its absolute path',
    inFolder(async (folder) => {
      const file = join(folder, 'some', 'where', 'animals.db');
      const store = await openSqliteStore(relative(process.cwd(), file));
      expect(store.file).to.equal(file);
      await store.close();
      expect(await readdir(dirname(file))).to.deep.equal(['animals.db']);
    }),
  );

  it(
    'takes a path to the letter, whatever SQLite or a URL would read into it',
    inFolder(async (folder) => {
      for (const name of [':memory:', 'file:a?mode=memory', 'a b%20#c?d.db']) {
        await makeStore(join(folder, name));
        const store = await openSqliteStore(join(folder, name));
        expect(await store.pets.list({ limit: 5 }), name).to.have.length(1);
        await store.close();
        await access(join(folder, name));
      }
    }),
  );

  it(
    'finds the same store through a symbolic link',
    inFolder(async (folder) => {
      await makeStore(join(folder, 'animals.db'));
      await symlink('animals.db', join(folder, 'link.db'));
      const store = await openSqliteStore(join(folder, 'link.db'));
      expect(basename(store.file)).to.equal('animals.db');
      expect(await store.pets.list({ limit: 5 })).to.have.length(1);
      await store.close();
    }),
  );

  it(
    'is not harmed by the draft that a crash left behind',
    inFolder(async (folder) => {
      await writeFile(join(folder, '.animals.db.0.new'), 'half a dra');
      await makeStore(join(folder, 'animals.db'));
      expect(await readdir(folder)).to.have.members(['.animals.db.0.new', 'animals.db']);
    }),
  );

  it(
    'of one new file ten times at once makes one store',
    inFolder(async (folder) => {
      const file = join(folder, 'new', 'animals.db');
      const stores = await Promise.all(Array.from({ length: 10 }, () => openSqliteStore(file)));
      await Promise.all(stores.map(({ pets }) => pets.add(rex)));
      for (const { pets } of stores) expect(await pets.list({ limit: 20 })).to.have.length(10);
      await Promise.all(stores.map((store) => store.close()));
      expect(await readdir(dirname(file))).to.deep.equal(['animals.db']);
    }),
  );

  it(
    'a second time keeps the first one safe from other processes',
    inFolder(async (folder) => {
      // POSIX: closing any descriptor of a file gives up the process's locks on it. Without them another
      // process may change the file as if it were alone with it (the SQLite of Node.js 22 lets it).
      const file = join(folder, 'animals.db');
      const first = await openSqliteStore(file);
      await first.pets.add(rex);
      await (await openSqliteStore(file)).close();
      const takeOver = `
        const { DatabaseSync } = require('node:sqlite');
        new DatabaseSync(process.argv[1]).exec('PRAGMA journal_mode = DELETE');
      `;
      const other = spawnSync(process.execPath, ['-e', takeOver, file], { encoding: 'utf8' });
      expect(other.stderr).to.include('database is locked');
      expect((await first.pets.add(rex)).pet.id).to.equal(2n);
      await first.close();
    }),
  );

  it('ends where a folder can never be made, whatever the system says of it', async function () {
    // There mkdir says of a folder whose parent exists that the parent does not.
    if (process.platform !== 'linux') return this.skip();
    const error = await rejection(openSqliteStore('/proc/nowhere/inside/animals.db'));
    expect(error).to.be.instanceOf(StoreFileError);
    expect(error)
      .to.have.property('message')
      .that.matches(/cannot be opened or made \(ENOENT.*\): name another/);
  });

  describe('that cannot be written', () => {
    it(
      'refuses it, rather than begin to serve',
      onReadOnlyStore((file) =>
        expectRefused(file, /cannot be written \(EACCES.*\): see that the file and its/),
      ),
    );

    it(
      'opens it where it only has to exist: to be copied, say',
      onReadOnlyStore(async (file) => {
        const store = await openSqliteStore(file, { mustExist: true });
        expect((await store.pets.findById(1n))?.name).to.equal('Rex 0');
        await store.close();
      }),
    );
  });

  describe('upgrades an older schema', () => {
    const SECOND =
      "ALTER TABLE pets ADD COLUMN color TEXT NOT NULL DEFAULT 'brown'; CREATE TABLE colors (name TEXT) STRICT;";

    it(
      'forward, keeping what is there',
      inFolder(async (folder) => {
        const file = join(folder, 'animals.db');
        await makeStore(file, 3);
        const connection = await openSqliteConnection(file, { migrations: [...MIGRATIONS, SECOND] });
        const pets = new SqlitePetRepository(connection);
        expect(await pets.list({ limit: 5 })).to.have.length(3);
        expect(connection.prepare('PRAGMA user_version').get()).to.deep.equal([BigInt(NEWEST + 1)]);
        expect(connection.prepare('SELECT DISTINCT color FROM pets').all()).to.deep.equal([['brown']]);
        await pets.close();
        await expectRefused(file, new RegExp(`has schema version ${NEWEST + 1}, newer than ${NEWEST}`));
      }),
    );

    it(
      'wholly or not at all when a step fails',
      inFolder(async (folder) => {
        const file = join(folder, 'animals.db');
        await makeStore(file, 3);
        const error = await rejection(
          openSqliteConnection(file, {
            migrations: [...MIGRATIONS, `${SECOND} SELECT no_such_column FROM pets`],
          }),
        );
        expect(String(error)).to.match(/^StoreFileError: .+no such column/);
        expect(await readdir(folder)).to.deep.equal(['animals.db']);
        const store = await openSqliteStore(file);
        expect(await store.pets.list({ limit: 5 })).to.have.length(3);
        await store.close();
      }),
    );

    it(
      'wholly or not at all when the process is killed in the middle of it',
      inFolder(async (folder) => {
        const file = join(folder, 'animals.db');
        await makeStore(file, 3);
        const child = fork(fileURLToPath(new URL('./upgrading-process.js', import.meta.url)), [file], {
          silent: true,
        });
        // Its step writes for ever; the log growing shows that it is inside.
        await once(child, 'message');
        while ((await readFile(`${file}-wal`).catch(() => '')).length < 1_000_000)
          await new Promise(setImmediate);
        child.kill('SIGKILL');
        await once(child, 'exit');
        const store = await openSqliteStore(file);
        expect(await store.pets.list({ limit: 5 })).to.have.length(3);
        await store.close();
      }),
    );
  });

  it(
    'refuses a store whose newer version is still in the log',
    inFolder(async (folder) => {
      const file = join(folder, 'animals.db');
      await makeStore(file);
      const other = new DatabaseSync(file);
      other.exec('PRAGMA user_version = 9');
      const error = await rejection(openSqliteStore(file));
      expect(String(error)).to.match(new RegExp(`has schema version 9, newer than ${NEWEST}`));
      other.close();
    }),
  );
});
