import { expect } from 'chai';
import * as fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { UnsavedPet } from '../../../src/domain/pet.js';
import { rejectionOf } from '../../contract/rejection.js';
import { HOUR, claimed } from '../../contract/samples.js';
import { unavailable } from '../unavailable.js';
import {
  cleanUp,
  closedStore,
  connect,
  countOf,
  inOtherProcess,
  open,
  rex,
  testFile,
} from './test-store.js';

describe('Writing to an SQLite store', () => {
  afterEach(cleanUp);

  it('stores nothing of a transaction in which a write fails, and rejects with the error of a bug', async () => {
    const store = await open(testFile());
    const wrong = { ...rex, name: Symbol('Rex') } as unknown as UnsavedPet;
    const text = { ...rex, categoryId: 'seven' } as unknown as UnsavedPet;

    const [failing, ...others] = [wrong, rex, rex].map((pet) => store.pets.add(pet));

    const causes = Promise.all(others.map(unavailable));
    expect(failing && (await rejectionOf(failing))).to.be.instanceOf(TypeError);
    for (const cause of await causes) expect(cause).to.match(/TypeError/);
    expect(await unavailable(store.pets.add(text))).to.match(/cannot store TEXT value/);
    expect(await countOf(store)).to.equal(0);
    expect((await store.pets.add(rex)).id).to.equal(1n);
  });

  it('commits the rest when single writes are refused', async () => {
    const store = await open(testFile());
    const outcomes = await Promise.allSettled([
      store.pets.addOnce(rex, ...claimed()),
      store.pets.addOnce(rex, ...claimed({ fingerprint: 'another' })),
      store.changes.change(1n, { status: 'sold' }, 'pending'),
      store.pets.add(rex),
    ]);
    const codes = outcomes.map((outcome) => 'reason' in outcome && outcome.reason.code);
    expect(codes).to.deep.equal([false, 'idempotency_key_reused', 'status_conflict', false]);
    expect(await countOf(store)).to.equal(2);
  });

  it('rejects reads of a row that is no animal, and serves the others', async () => {
    const file = await closedStore();
    const sql = "UPDATE pets SET status = 'lost' WHERE id = 2";
    connect(file, `PRAGMA ignore_check_constraints = ON; ${sql}`).close();
    const { pets, changes } = await open(file);
    expect(await unavailable(pets.findById(2n))).to.match(/animal 2 has the status 'lost'/);
    await unavailable(pets.list({ limit: 3 }));
    await unavailable(changes.change(2n, { name: 'Max' }, undefined));
    expect(await pets.findById(1n)).to.deep.equal({ id: 1n, ...rex });
  });

  it('removes, with each new claim, those that expired an hour ago and no others', async () => {
    const { pets, location } = await open(testFile());
    const add = (key: string, now: number, keepUntil: number) =>
      pets.addOnce(rex, { scope: 's', key, fingerprint: 'f', keepUntil }, now);
    for (const key of ['old', 'older']) await add(key, 0, 10 * HOUR);
    await add('live', 0, 99 * HOUR);
    using database = connect(location, '');
    const count = database.prepare('SELECT count(*) AS claims FROM claims');
    await add('new', 11 * HOUR - 1, 99 * HOUR);
    expect(count.get()).to.deep.include({ claims: 4 });
    await add('newer', 11 * HOUR, 99 * HOUR);
    expect(count.get()).to.deep.include({ claims: 3 });
    expect((await add('live', 12 * HOUR, 99 * HOUR)).replayed).to.equal(true);
  });
});

describe('An SQLite store whose file was', () => {
  afterEach(cleanUp);

  /** Each returns a function that puts the file back, if it still exists. */
  const DISPLACED = {
    removed: (file: string) => {
      fs.rmSync(file);
      return () => {};
    },
    replaced: (file: string) => {
      const away = `${file}.away`;
      fs.renameSync(file, away);
      fs.copyFileSync(away, file);
      return () => fs.renameSync(away, file);
    },
  };
  for (const [what, displace] of Object.entries(DISPLACED))
    it(`${what} refuses every write a second later, until it is opened again`, async () => {
      const file = await closedStore();
      const { pets, check, close } = await open(file);
      await pets.add(rex);
      const putBack = displace(file);
      await delay(1001);
      expect(await unavailable(pets.add(rex))).to.include(`${file} was removed or replaced`);
      putBack();
      await unavailable(check());
      await unavailable(pets.add(rex));
      await close();
      fs.rmSync(`${file}-wal`, { force: true });

      await (await open(file)).pets.add(rex);
    });
});

describe('An SQLite store beside another process', () => {
  afterEach(cleanUp);

  it('stores each animal of three that create it together, under an id of its own', async () => {
    const file = testFile();
    const adding = `
      const store = await openSqliteStore(file);
      for (let round = 0; round < 20; round += 1)
        for (const { id } of await Promise.all([1, 2, 3].map(() => store.pets.add(rex)))) console.log(String(id));
      await store.close();`;
    const outputs = await Promise.all([1, 2, 3].map(() => inOtherProcess(file, adding)));
    const ids = outputs.flatMap((output) => output.trim().split('\n'));
    expect(new Set(ids).size).to.equal(180);
    expect(await countOf(await open(file))).to.equal(180);
  });

  it('reads while it waits for a lock, and then stores only what was not aborted', async () => {
    const file = await closedStore();
    const store = await open(file);
    const lock = connect(file, 'BEGIN IMMEDIATE');
    const controller = new AbortController();
    const adding = store.pets.add(rex);
    const aborted = store.pets.add(rex, { signal: controller.signal });
    await delay(50);
    expect(await countOf(store)).to.equal(3);
    controller.abort(new Error('given up'));
    expect(await rejectionOf(aborted)).to.equal(controller.signal.reason);

    lock.close();

    expect((await adding).id).to.equal(4n);
    expect(await countOf(store)).to.equal(4);
  });

  it('gives up writing and opening after five seconds', async () => {
    const [file, other] = [await closedStore(), await closedStore()];
    const store = await open(file);
    const began = performance.now();
    using lock = connect(file, 'BEGIN IMMEDIATE');
    using whole = connect(other, 'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');

    const causes = await Promise.all([store.pets.add(rex), open(other)].map(unavailable));

    for (const cause of causes) expect(cause).to.match(/database is locked/);
    expect(performance.now() - began).to.be.greaterThan(4900);
    expect([lock.isTransaction, whole.isTransaction]).to.deep.equal([true, true]);
    expect(await countOf(store)).to.equal(3);
  });

  it('closes although the other process keeps the lock', async () => {
    const file = await closedStore();
    const store = await open(file);
    using lock = connect(file, 'BEGIN IMMEDIATE');
    const adding = rejectionOf(store.pets.add(rex));
    await store.close();
    expect(String(await adding)).to.match(/waiting for a lock while the store closes/);
    expect(lock.isTransaction).to.equal(true);
  });
});
