import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { retryWhileBusy } from '../../../src/adapters/sqlite/busy-retry.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { onStore, rejection, rex } from './temporary-store.js';

/** Another connection that is in the middle of writing, until `release`. */
function writeLock(file: string): { release(): void } {
  const database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  return { release: () => database.close() };
}

describe('an SQLite store that another connection is writing to', () => {
  it(
    'goes on serving, and adds as soon as the other process is done',
    onStore(async ({ file, pets }) => {
      const { pet } = await pets.add(rex);
      const other = fork(fileURLToPath(new URL('./locking-process.js', import.meta.url)), [file, '1000'], {
        silent: true,
      });
      await once(other, 'message');

      let ticks = 0;
      let longest = 0;
      let last = performance.now();
      const ticking = setInterval(() => {
        ticks += 1;
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 5);
      const added = pets.add(rex);
      let reads = 0;
      while ((await Promise.race([added, turn()])) === undefined) {
        expect(await pets.findById(pet.id)).to.deep.equal(pet);
        reads += 1;
      }
      clearInterval(ticking);
      if (other.exitCode === null) await once(other, 'exit');

      expect((await added).pet.id).to.equal(2n);
      expect(ticks).to.be.greaterThan(50);
      expect(longest).to.be.lessThan(600);
      expect(reads).to.be.greaterThan(100);
    }),
  );

  it(
    'gives an add up after busyTimeout, and keeps nothing of it',
    onStore(
      async ({ file, pets }) => {
        const lock = writeLock(file);
        const error = await rejection(pets.add(rex));
        lock.release();
        expect(error).to.be.instanceOf(UnavailableError);
        expect(error).to.have.nested.property('cause.errcode', 5);
        expect((await pets.add({ ...rex, name: 'Bella' })).pet.id).to.equal(1n);
        expect(await pets.list({ limit: 5 })).to.have.length(1);
      },
      { busyTimeout: 50 },
    ),
  );

  it(
    'lets an add with a signal wait for as long as the signal says',
    onStore(
      async ({ file, pets }) => {
        const lock = writeLock(file);
        const patient = pets.add(rex, { signal: new AbortController().signal });
        await rejection(pets.add({ ...rex, name: 'Bella' }));
        lock.release();
        const { pet } = await patient;
        expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
      },
      { busyTimeout: 50 },
    ),
  );

  it(
    'withdraws an add that is aborted while it waits, and no other',
    onStore(async ({ file, pets }) => {
      const lock = writeLock(file);
      const signal = AbortSignal.timeout(30);
      const aborted = pets.add(rex, { signal });
      const kept = pets.add({ ...rex, name: 'Bella' });
      expect(await rejection(aborted)).to.equal(signal.reason);
      lock.release();
      const { pet } = await kept;
      expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
    }),
  );

  it('stops retrying a read when its call is aborted', async () => {
    const busy = Object.assign(new Error('database is locked'), { errcode: 5 });
    const signal = AbortSignal.timeout(30);
    const read = retryWhileBusy('reading', { signal, busyTimeout: 1 }, () => {
      throw busy;
    });
    expect(await rejection(read)).to.equal(signal.reason);
  });

  it(
    'waits for the lock before it closes, but no longer than busyTimeout',
    onStore(
      async ({ file, pets, close }) => {
        const lock = writeLock(file);
        const late = pets.add(rex, { signal: new AbortController().signal });
        const closed = close();
        expect(await rejection(late)).to.be.instanceOf(UnavailableError);
        await closed;
        lock.release();

        const again = await openSqliteStore(file);
        const holding = writeLock(file);
        const added = again.pets.add(rex);
        const closing = again.close();
        await turn();
        holding.release();
        expect((await added).pet.id).to.equal(1n);
        await closing;
      },
      { busyTimeout: 100 },
    ),
  );

  it(
    'waits to read and to open while the other has the file for itself',
    onStore(async ({ file, pets, close }) => {
      await pets.add(rex);
      await close();
      const other = new DatabaseSync(file);
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE pets SET category_id = 8; COMMIT');
      expect(await rejection(openSqliteStore(file, { busyTimeout: 30 }))).to.be.instanceOf(
        UnavailableError,
      );
      const opening = openSqliteStore(file);
      await turn();
      other.close();
      const store = await opening;
      expect((await store.pets.findById(1n))?.categoryId).to.equal(8n);
      await store.close();
    }),
  );
});
