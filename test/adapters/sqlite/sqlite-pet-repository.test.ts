import { expect } from 'chai';
import { readFile, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { MIGRATIONS } from '../../../src/adapters/sqlite/schema.js';
import { PET_SQL } from '../../../src/adapters/sqlite/sqlite-pet-repository.js';
import { IdempotencyKeyReusedError, UnavailableError } from '../../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { claimOn, onConnection, onStore, rejection, rex } from './temporary-store.js';

/** How many transactions the write-ahead log holds: a frame that ends one says the size of the database then. */
async function commitsInLog(file: string): Promise<number> {
  const log = await readFile(`${file}-wal`);
  const pageSize = log.readUInt32BE(8);
  let commits = 0;
  for (let frame = 32; frame + 24 + pageSize <= log.length; frame += 24 + pageSize) {
    if (log.readUInt32BE(frame + 4) > 0) commits += 1;
  }
  return commits;
}

/** A database that asks, while it plans a statement, whether each part of it is allowed. */
type Authorized = DatabaseSync & { setAuthorizer?(allows: () => number): void };

describe('SqlitePetRepository', () => {
  it(
    'syncs every commit to the disk before it answers',
    onConnection(async (connection) => {
      expect(connection.prepare('PRAGMA synchronous').get()).to.deep.equal([2n]);
      expect(connection.prepare('PRAGMA journal_mode').get()).to.deep.equal(['wal']);
    }),
  );

  it(
    'has committed an animal when it answers, for every other connection to see',
    onStore(async ({ file, pets }) => {
      const { pet } = await pets.add(rex);
      const other = new DatabaseSync(file);
      expect(other.prepare('SELECT name FROM pets WHERE id = ?').get(pet.id)).to.include({ name: 'Rex' });
      other.close();
    }),
  );

  it(
    'lets all adds of one event-loop turn share one commit',
    onStore(async ({ file, pets }) => {
      await pets.add(rex);
      const before = await commitsInLog(file);
      const added = await Promise.all(Array.from({ length: 64 }, () => pets.add(rex)));
      expect(new Set(added.map(({ pet }) => pet.id)).size).to.equal(64);
      expect((await commitsInLog(file)) - before).to.equal(1);
      await pets.add(rex);
      await pets.add(rex);
      expect((await commitsInLog(file)) - before).to.equal(3);
    }),
  );

  it(
    'keeps every int64 to the digit',
    onStore(async ({ pets }) => {
      for (const categoryId of [0n, -1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX, INT64_MIN]) {
        const { pet } = await pets.add({ ...rex, categoryId });
        expect((await pets.findById(pet.id))?.categoryId).to.equal(categoryId);
        expect((await pets.list({ after: pet.id - 1n, limit: 1 }))[0]?.categoryId).to.equal(categoryId);
      }
    }),
  );

  it(
    'finds nothing at ids that no int64 can be',
    onStore(async ({ pets }) => {
      const { pet } = await pets.add(rex);
      expect(await pets.findById(INT64_MAX + 1n)).to.equal(undefined);
      expect(await pets.findById(INT64_MIN - 1n)).to.equal(undefined);
      expect(await pets.list({ after: INT64_MAX + 1n, limit: 5 })).to.deep.equal([]);
      expect(await pets.list({ after: INT64_MIN - 1n, limit: Infinity })).to.deep.equal([pet]);
    }),
  );

  it(
    'reads a page by index, with a status and without, and sorts nothing',
    onConnection(async (connection) => {
      const plan = (sql: string): string =>
        connection
          .prepare<[bigint, bigint, bigint, string]>(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map((row) => row[3])
          .join('; ');
      expect(plan(PET_SQL.list)).to.equal('SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)');
      expect(plan(PET_SQL.listByStatus)).to.equal(
        'SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)',
      );
      expect(plan(PET_SQL.find)).to.equal('SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)');
      expect(plan(PET_SQL.sweepClaims)).to.match(
        /claims USING COVERING INDEX claims_by_keep_until \(keep_until<\?\)/,
      );
      for (const sql of Object.values(PET_SQL))
        expect(plan(sql)).not.to.match(/SCAN (?:pets|claims)|TEMP B-TREE/);
    }),
  );

  it('plans how to read when a statement is prepared, and not again at each call', function () {
    const database: Authorized = new DatabaseSync(':memory:');
    if (database.setAuthorizer === undefined) this.skip(); // Node.js 22 does not show when SQLite plans
    for (const migration of MIGRATIONS) database.exec(migration);
    let planning = 0;
    database.setAuthorizer(() => {
      planning += 1;
      return 0; // SQLITE_OK
    });
    for (const sql of [PET_SQL.find, PET_SQL.list, PET_SQL.listByStatus, PET_SQL.findClaimed]) {
      const statement = database.prepare(sql);
      const parameters = Array.from(sql.matchAll(/\?/g), () => 1);
      const prepared = planning;
      for (const limit of [1, 21, 101]) statement.all(...parameters.slice(1), limit);
      expect(planning, sql).to.equal(prepared);
    }
    expect(planning).to.be.greaterThan(0);
    database.close();
  });

  it(
    'never gives an id again, not even that of the last animal after it is gone',
    onStore(async ({ file, pets }) => {
      const { pet } = await pets.add(rex);
      const other = new DatabaseSync(file);
      other.exec('DELETE FROM pets');
      other.close();
      expect((await pets.add(rex)).pet.id > pet.id).to.equal(true);
    }),
  );

  it(
    'keeps the good adds of a turn when one of them is refused by the database',
    onStore(async ({ pets }) => {
      const sick = Object.assign({ ...rex }, { status: 'sick' });
      const outcomes = await Promise.allSettled([
        pets.add(rex, { claim: claimOn('1') }),
        pets.add(sick),
        pets.add(rex, { claim: claimOn('2') }),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(outcomes[1]).to.have.property('reason').that.is.instanceOf(UnavailableError);
      expect(await pets.list({ limit: 9 })).to.have.length(2);
    }),
  );

  it(
    'undoes what a refused write of a turn had done, and keeps the others',
    onConnection(async (connection, pets) => {
      const fault = new Error('thought better of it');
      const outcomes = await Promise.allSettled([
        pets.add(rex),
        connection.writes.submit('emptying the store', undefined, () => {
          connection.prepare('DELETE FROM pets').run();
          throw fault;
        }),
        pets.add(rex),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(outcomes[1]).to.have.property('reason', fault);
      expect(await pets.list({ limit: 9 })).to.have.length(2);
    }),
  );

  it(
    'never brings an add to the store that is aborted while it is queued',
    onStore(async ({ pets }) => {
      const controller = new AbortController();
      const aborted = pets.add(rex, { signal: controller.signal });
      const kept = pets.add({ ...rex, name: 'Bella' });
      controller.abort(new Error('gone'));
      expect(await rejection(aborted)).to.equal(controller.signal.reason);
      const { pet } = await kept;
      expect(await pets.list({ limit: 9 })).to.deep.equal([pet]);
    }),
  );

  it(
    'keeps an animal as it was when add was called, whatever becomes of the arguments',
    onStore(async ({ pets }) => {
      const pet = { ...rex };
      const claim = { ...claimOn('t'), keepUntil: new Date(2_000_000) };
      const added = pets.add(pet, { claim });
      pet.name = 'Bella';
      claim.token = 'u';
      claim.keepUntil.setTime(0);
      expect((await added).pet.name).to.equal('Rex');
      expect((await pets.add(rex, { claim: claimOn('t') })).replayed).to.equal(true);
    }),
  );

  describe('claims', () => {
    it(
      'are judged one by one among the adds of one turn',
      onStore(async ({ pets }) => {
        const [first, same, other, unclaimed] = await Promise.allSettled([
          pets.add(rex, { claim: claimOn('t') }),
          pets.add(rex, { claim: claimOn('t') }),
          pets.add({ ...rex, name: 'Bella' }, { claim: claimOn('t', { fingerprint: 'bella' }) }),
          pets.add(rex),
        ]);
        expect(first).to.have.nested.property('value.replayed', false);
        expect(same).to.have.nested.property('value.replayed', true);
        expect(same).to.have.deep.nested.property(
          'value.pet',
          first?.status === 'fulfilled' && first.value.pet,
        );
        expect(other).to.have.property('reason').that.is.instanceOf(IdempotencyKeyReusedError);
        expect(unclaimed).to.have.nested.property('value.replayed', false);
        expect(await pets.list({ limit: 9 })).to.have.length(2);
      }),
    );

    it(
      'hold until keepUntil, to the millisecond, and may be made anew from then on',
      onStore(async ({ pets }) => {
        const { pet } = await pets.add(rex, { claim: claimOn('t') });
        const late = await pets.add(rex, { claim: claimOn('t', { now: new Date(1_999_999) }) });
        expect(late).to.deep.equal({ pet, replayed: true });
        const lapsed = { now: new Date(2_000_000), keepUntil: new Date(3_000_000), fingerprint: 'bella' };
        const anew = await pets.add({ ...rex, name: 'Bella' }, { claim: claimOn('t', lapsed) });
        expect(anew.replayed).to.equal(false);
        const again = await pets.add({ ...rex, name: 'Bella' }, { claim: claimOn('t', lapsed) });
        expect(again).to.deep.equal({ pet: anew.pet, replayed: true });
      }),
    );

    it(
      'survive reopening',
      onStore(async ({ file, pets, close }) => {
        const { pet } = await pets.add(rex, { claim: claimOn('t') });
        await close();
        const store = await openSqliteStore(file);
        expect(await store.pets.add(rex, { claim: claimOn('t') })).to.deep.equal({ pet, replayed: true });
        await store.close();
      }),
    );

    it(
      'of scopes and tokens that differ in any code unit never meet',
      onStore(async ({ pets }) => {
        const tokens = ['a', 'a\0', 'a\0b', '\uD800', '\uDBFF', '\uFFFD', 'é', 'e\u0301'];
        for (const token of tokens) {
          expect((await pets.add(rex, { claim: claimOn(token) })).replayed, token).to.equal(false);
          expect((await pets.add(rex, { claim: claimOn('-', { scope: token }) })).replayed, token).to.equal(
            false,
          );
        }
        for (const token of tokens) {
          expect((await pets.add(rex, { claim: claimOn(token) })).replayed, token).to.equal(true);
        }
      }),
    );

    it(
      'are swept when they have lapsed, a few with each new one, and no living one with them',
      onStore(async ({ file, pets }) => {
        const hour = 3_600_000;
        for (let token = 0; token < 10; token += 1) await pets.add(rex, { claim: claimOn(`old ${token}`) });
        await pets.add(rex, { claim: claimOn('living', { keepUntil: new Date(50 * hour) }) });
        const left = (): unknown => {
          const other = new DatabaseSync(file);
          const count = other
            .prepare("SELECT count(*) AS count FROM claims WHERE token LIKE '%old%'")
            .get()?.['count'];
          other.close();
          return count;
        };
        const now = new Date(20 * hour);
        const counts: unknown[] = [left()];
        for (let token = 0; token < 6; token += 1) {
          await pets.add(rex, { claim: claimOn(`new ${token}`, { now, keepUntil: new Date(50 * hour) }) });
          counts.push(left());
        }
        expect(counts).to.deep.equal([10, 8, 6, 4, 2, 0, 0]);
        expect((await pets.add(rex, { claim: claimOn('living', { now }) })).replayed).to.equal(true);
      }),
    );

    it(
      'outlive a call whose clock is ahead of the others by less than an hour',
      onStore(async ({ pets }) => {
        await pets.add(rex, { claim: claimOn('t') });
        await pets.add(rex, { claim: claimOn('ahead', { now: new Date(3_000_000) }) });
        expect((await pets.add(rex, { claim: claimOn('t') })).replayed).to.equal(true);
      }),
    );
  });

  describe('close', () => {
    it(
      'answers every add that was queued before it',
      onStore(async ({ pets }) => {
        const queued = Array.from({ length: 20 }, () => pets.add(rex));
        await pets.close();
        expect(await Promise.all(queued)).to.have.length(20);
      }),
    );

    it(
      'of one repository leaves the other at work',
      onStore(async ({ pets, apiKeys }) => {
        await pets.close();
        await pets.close();
        for (const call of [
          () => pets.add(rex),
          () => pets.findById(1n),
          () => pets.list({ limit: 1 }),
          () => pets.check(),
        ]) {
          expect(await rejection(call())).to.be.instanceOf(UnavailableError);
        }
        expect(await apiKeys.list()).to.deep.equal([]);
      }),
    );

    it(
      'of all repositories, or of the store, leaves the file alone in its folder',
      onStore(async ({ file, pets, apiKeys, deprecatedCalls, close }) => {
        await pets.add(rex);
        await apiKeys.close();
        await deprecatedCalls.close();
        expect(await readdir(dirname(file))).to.have.members([
          'animals.db',
          'animals.db-shm',
          'animals.db-wal',
        ]);
        await pets.close();
        expect(await readdir(dirname(file))).to.deep.equal(['animals.db']);
        await close();
      }),
    );
  });
});
