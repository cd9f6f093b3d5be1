import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { retryWhileBusy } from '../../../src/adapters/sqlite/busy.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import { onStore, rejection, rex } from './temporary-store.js';

/** Another connection that is writing, until `release`. */
function writeLock(file: string): { release(): void } {
  const database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  return { release: () => database.close() };
}

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
    'lets an add with a signal wait until the signal is aborted',
    onStore(
      async ({ pets, file }) => {
        const lock = writeLock(file);
        const controller = new AbortController();
        const patient = pets.add(rex, { signal: new AbortController().signal });
        const aborted = pets.add(rex, { signal: controller.signal });
        await rejection(pets.add(rex)); // after busyTimeout
        controller.abort(new Error('given up'));
        expect(await rejection(aborted)).to.equal(controller.signal.reason);
        lock.release();
        const { pet } = await patient;
        expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
      },
      { busyTimeout: 50 },
    ),
  );

  it('stops retrying a read when its call is aborted', async () => {
    const busy = Object.assign(new Error('database is locked'), { errcode: 5 });
    const controller = new AbortController();
    let tries = 0;
    const read = retryWhileBusy('reading', { signal: controller.signal, busyTimeout: 1 }, () => {
      tries += 1;
      if (tries === 3) controller.abort(new Error('given up'));
      throw busy;
    });
    expect(await rejection(read)).to.equal(controller.signal.reason);
    expect(tries).to.equal(3);
  });

  it(
    'waits to open and to read while the other has the file for itself',
    onStore(async ({ pets, file }) => {
      await pets.add(rex);
      await pets.close();
      const other = new DatabaseSync(file);
      other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE pets SET category_id = 8; COMMIT');
      expect(await rejection(openSqliteStore(file, { busyTimeout: 30 }))).to.be.instanceOf(UnavailableError);
      const opening = openSqliteStore(file);
      await delay(5);
      other.close();
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
