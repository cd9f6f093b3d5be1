import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { retryDelay, retryWhileBusy } from '../../../src/adapters/sqlite/busy.js';
import { backUpSqliteStore } from '../../../src/adapters/sqlite/sqlite-backup.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { inFolder, onStore, rejection, rex } from './temporary-store.js';

/** Another connection that is writing, until `release`. */
function writeLock(file: string): { release(): void } {
  const database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  return { release: () => database.close() };
}

/** Another connection that has the file for itself, until `release`. */
function fileLock(file: string): { release(): void } {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE pets SET category_id = 8; COMMIT');
  return { release: () => database.close() };
}

const busy = Object.assign(new Error('database is locked'), { errcode: 5 });

describe('an SQLite store that another connection is writing to', () => {
  it(
    'goes on serving, and adds as soon as the other is done',
    onStore(async ({ pets, file }) => {
      const { pet } = await pets.add(rex);
      const lock = writeLock(file);
      const began = performance.now();
      const added = pets.add(rex);
      for (let turn = 0; turn < 5; turn += 1) {
        await delay(5);
        expect(await pets.findById(pet.id)).to.deep.equal(pet);
      }
      lock.release();
      expect((await added).pet.id).to.equal(2n);
      expect(performance.now() - began).to.be.lessThan(4000); // SQLite's own waiting would hold the thread for 5 s
    }),
  );

  it(
    'gives an add up after busyTimeout, and stores nothing of it',
    onStore(
      async ({ pets, file }) => {
        const lock = writeLock(file);
        const error = await rejection(pets.add(rex));
        lock.release();
        expect(error).to.be.instanceOf(UnavailableError);
        expect(error).to.have.nested.property('cause.errcode', 5);
        expect((await pets.add(rex)).pet.id).to.equal(1n);
        expect(await pets.list({ limit: 5 })).to.have.length(1);
      },
      { busyTimeout: 50 },
    ),
  );

  it(
    'gives an add with a signal up as early as any other, and before that when the signal is aborted',
    onStore(
      async ({ pets, file }) => {
        const lock = writeLock(file);
        const controller = new AbortController();
        const { signal } = controller;
        const aborted = pets.add(rex, { signal });
        const late = pets.add(rex, { signal: new AbortController().signal });
        controller.abort(new Error('given up'));
        expect(await rejection(aborted)).to.equal(signal.reason);
        expect(await rejection(late)).to.be.instanceOf(UnavailableError);
        lock.release();
        expect((await pets.add(rex)).pet.id).to.equal(1n);
      },
      { busyTimeout: 50 },
    ),
  );

  for (const signal of [undefined, new AbortController().signal]) {
    it(`gives a read up after busyTimeout, ${signal ? 'with' : 'without'} a signal`, async () => {
      const read = retryWhileBusy('reading', { busyTimeout: 30, onLongWait: () => {} }, signal, () => {
        throw busy;
      });
      expect(await rejection(read))
        .to.be.instanceOf(UnavailableError)
        .and.have.property('cause', busy);
    });
  }

  it('stops retrying a read when its call is aborted', async () => {
    const controller = new AbortController();
    let tries = 0;
    const read = retryWhileBusy(
      'reading',
      { busyTimeout: 5000, onLongWait: () => {} },
      controller.signal,
      () => {
        tries += 1;
        if (tries === 3) controller.abort(new Error('given up'));
        throw busy;
      },
    );
    expect(await rejection(read)).to.equal(controller.signal.reason);
    expect(tries).to.equal(3);
  });

  it(
    'says in each long wait what it waits for, whether it opens, writes or backs up',
    inFolder(async (folder) => {
      /** Works on a locked store until it says that it waits. Returns its lines. */
      const heldUp = async (
        name: string,
        lock: typeof fileLock,
        work: (file: string, onNotice: (line: string) => void, relock: () => void) => Promise<unknown>,
      ): Promise<string[]> => {
        const file = join(folder, name);
        await (await openSqliteStore(file)).close();
        const lines: string[] = [];
        let held: ReturnType<typeof lock> | undefined;
        const relock = (): void => void (held = lock(file));
        const onNotice = (line: string): void => {
          lines.push(line.replace(folder, ''));
          held?.release();
        };
        await work(file, onNotice, relock);
        return lines;
      };
      // A slow machine must not make them give up.
      Object.defineProperty(performance, 'now', { value: () => 0, configurable: true });
      try {
        const lines = await Promise.all([
          heldUp('opened', fileLock, async (file, onNotice, relock) => {
            relock();
            await (await openSqliteStore(file, { onNotice })).close();
          }),
          heldUp('written', writeLock, async (file, onNotice, relock) => {
            const { pets } = await openSqliteStore(file, { onNotice });
            for (let round = 0; round < 2; round += 1) {
              relock();
              await Promise.all([pets.add(rex), pets.add(rex)]);
            }
            await pets.close();
          }),
          heldUp('backed-up', fileLock, async (file, onNotice, relock) => {
            relock();
            await backUpSqliteStore(file, `${file}.backup`, { onNotice });
          }),
        ]);
        const line = 'waiting: another process has locked /';
        expect(lines).to.deep.equal([
          [`${line}opened`],
          [`${line}written`, `${line}written`],
          [`${line}backed-up`],
        ]);
      } finally {
        Reflect.deleteProperty(performance, 'now');
      }
    }),
  );

  it('says so once in a wait, and not in a short one', () => {
    const saidAt: number[] = [];
    for (let tries = 0; tries < 1000; tries += 1)
      retryDelay(tries, { busyTimeout: 5000, onLongWait: () => saidAt.push(tries) });
    expect(saidAt).to.have.length(1);
    expect(saidAt[0]).to.be.greaterThan(10);
  });

  it(
    'waits to open and to read while the other has the file for itself',
    onStore(async ({ pets, file }) => {
      await pets.add(rex);
      await pets.close();
      const other = fileLock(file);
      expect(await rejection(openSqliteStore(file, { busyTimeout: 30 }))).to.be.instanceOf(UnavailableError);
      const opening = openSqliteStore(file);
      await delay(5);
      other.release();
      const store = await opening;
      expect((await store.pets.findById(1n))?.categoryId).to.equal(8n);
      await store.close();
    }),
  );

  it(
    'finishes the writes in progress before it closes, whichever repository is closed',
    onStore(async ({ pets, apiKeys, file }) => {
      const lock = writeLock(file);
      const added = pets.add(rex);
      const closed = apiKeys.close();
      await delay(5);
      lock.release();
      expect((await added).replayed).to.equal(false);
      await closed;
      expect(await readdir(dirname(file))).to.deep.equal(['animals.db']);
    }),
  );

  it(
    'waits no longer than busyTimeout before it closes',
    onStore(
      async ({ pets, file }) => {
        const lock = writeLock(file);
        const late = pets.add(rex, { signal: new AbortController().signal });
        const closed = pets.close();
        expect(await rejection(late)).to.be.instanceOf(UnavailableError);
        await closed;
        lock.release();
      },
      { busyTimeout: 50 },
    ),
  );
});
