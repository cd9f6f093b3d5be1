import { expect } from 'chai';
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import {
  allPets,
  change,
  claimOn,
  cleanUp,
  observed,
  rejection,
  rex,
  testStore,
} from './temporary-store.js';

/** How many transactions the write-ahead log holds: the frame that ends one says the size of the database. */
async function commitsInLog(file: string): Promise<number> {
  const log = await readFile(`${file}-wal`);
  const pageSize = log.readUInt32BE(8);
  let commits = 0;
  for (let frame = 32; frame + 24 + pageSize <= log.length; frame += 24 + pageSize) {
    if (log.readUInt32BE(frame + 4) > 0) commits += 1;
  }
  return commits;
}

/** What SQLite answers to each statement of a store on `file` that `chosen` accepts, when it is asked for its plan. */
async function planner(file: string, chosen: (sql: string) => boolean) {
  const { store, calls } = await observed('prepare', file);
  await store.close();
  const statements = calls.map(({ sql }) => sql).filter(chosen);
  return (database: DatabaseSync) =>
    statements.map((sql) => {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      return { sql, plan: plan.map(({ detail }) => detail) };
    });
}

describe('an SQLite store', () => {
  afterEach(cleanUp);

  it('is closed at the end of the block that declares it with `await using`', async () => {
    const { file, close } = await testStore();
    await close();

    {
      await using store = await openSqliteStore(file);
      await store.pets.add(rex);
    }

    expect(existsSync(`${file}-wal`), 'a log is beside the file').to.equal(false);
  });

  it('brings every commit to the disk before it acknowledges a write', async () => {
    const { connection } = await testStore();

    const settings = ['synchronous', 'journal_mode', 'trusted_schema'].map((name) =>
      connection.prepare(`PRAGMA ${name}`).get(),
    );

    expect(Object.assign({}, ...settings)).to.deep.equal({
      synchronous: 2, // FULL
      journal_mode: 'wal',
      trusted_schema: 0,
    });
  });

  it('commits the adds of two turns of the event loop together', async () => {
    const { pets, file } = await testStore();
    await pets.add(rex);
    const before = await commitsInLog(file);

    const first = pets.add(rex);
    await new Promise(setImmediate);
    await Promise.all([first, pets.add(rex)]);

    expect((await commitsInLog(file)) - before, 'commits of two adds').to.equal(1);
  });

  it('cuts the log to 16 MiB once nothing reads an old state any more', async () => {
    const { pets, file } = await testStore();
    const mebibytes = (): number => statSync(`${file}-wal`).size / 2 ** 20;
    const large = { ...rex, name: 'x'.repeat(2 ** 20) };
    const reader = new DatabaseSync(file);
    reader.exec('BEGIN; SELECT id FROM pets');
    for (let count = 0; count < 20; count += 1) await pets.add(large);
    expect(mebibytes(), 'MiB while another reads').to.be.greaterThan(20);

    reader.close();
    for (let count = 0; count < 3; count += 1) await pets.add(rex);

    expect(mebibytes(), 'MiB afterwards').to.equal(16);
  });

  it('commits at most 1,000 of the adds that come at once, and lets other events in before the next', async () => {
    const { pets } = await testStore();
    let added = 0;
    const adding = Array.from({ length: 2500 }, async () => {
      await pets.add(rex);
      added += 1;
    });
    const seen = new Set<number>();
    const looking = setInterval(() => seen.add(added));
    const controller = new AbortController();
    const aborted = pets.add(rex, { signal: controller.signal });

    await adding[0];
    controller.abort(new Error('not needed any more'));

    expect(await rejection(aborted), 'the add after them').to.equal(controller.signal.reason);
    await Promise.all(adding);
    clearInterval(looking);
    expect([...seen], 'counts that a timer saw').to.include.members([1000, 2000]);
    expect(await allPets(pets)).to.have.length(2500);
  });

  it('reads and sweeps by index, and sorts nothing', async () => {
    const { connection, file } = await testStore();
    // Only an import that keeps ids ends claims by their animals: once for each batch, in a process of its own.
    const plansOf = await planner(
      file,
      (sql) => /FROM (?:pets [^;]*WHERE|claims)/.test(sql) && !/json_each/.test(sql),
    );

    const plans = plansOf(connection).flatMap(({ plan }) => plan);

    expect(plans).to.include.members([
      'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH pets USING INTEGER PRIMARY KEY (rowid>?)',
      'SEARCH pets USING INDEX pets_by_status (status=? AND rowid>?)',
    ]);
    const sweep = 'claims USING COVERING INDEX claims_by_keep_until (keep_until<?)';
    expect(plans.join()).to.include(sweep);
    expect(plans.join()).not.to.match(/SCAN (?:pets|claims)|TEMP B-TREE/);
  });

  it('goes on with its plans when a tool makes statistics of two animals', async () => {
    const { pets, file, connection } = await testStore();
    const listing = 'EXPLAIN QUERY PLAN SELECT * FROM pets WHERE id > ? ORDER BY id';
    const plan = connection.prepare(listing).all();
    for (const tool of ['ANALYZE', 'PRAGMA optimize = 0x10002', 'ANALYZE pets']) {
      await pets.add(rex);

      change(file, tool);
      await pets.add(rex);

      expect(connection.prepare(listing).all(), tool).to.deep.equal(plan);
    }
  });

  const STATISTICS = {
    'of one animal, before the store is opened': '1 1 1 1',
    'of no animal, before the store is opened': '0 0 0 0',
    'of animals that have one status, while the store is open': '3000000 3000000 3000000',
    'of keys that have a scope each, while the store is open': '3000000 1 1',
    'of keys that have one scope, while the store is open': '3000000 3000000 1',
  };
  for (const [when, statistics] of Object.entries(STATISTICS)) {
    it(`plans no statement by statistics that a tool made ${when}`, async () => {
      const { pets, connection, file } = await testStore();
      await pets.addOnce(rex, ...claimOn('t'));
      const plansOf = await planner(file, (sql) => / pets | claims | api_keys /.test(sql));
      const plans = plansOf(connection);
      expect(plans).to.have.length.greaterThan(12);

      change(file, `ANALYZE; UPDATE sqlite_stat1 SET stat = '${statistics}'`);
      if (when.endsWith('opened')) await testStore(file);

      using other = new DatabaseSync(file);
      expect(plansOf(other), 'on another connection').to.deep.equal(plans);
      await pets.add(rex);
      expect(plansOf(connection), 'on its own connection').to.deep.equal(plans);
    });
  }

  it('sweeps expired claims, a few with each new one, and no other', async () => {
    const { pets, connection } = await testStore();
    const hour = 3_600_000;
    const keepUntil = 50 * hour;
    const now = 20 * hour;
    for (let key = 0; key < 10; key += 1) await pets.addOnce(rex, ...claimOn(`old ${key}`));
    await pets.addOnce(rex, ...claimOn('live', { keepUntil }));
    const count = connection.prepare("SELECT count(*) AS old FROM claims WHERE key LIKE 'old%'");
    const left: unknown[] = [];

    for (let key = 0; key < 6; key += 1) {
      await pets.addOnce(rex, ...claimOn(`new ${key}`, { now, keepUntil }));
      left.push(count.get()?.['old']);
    }

    expect(left, 'expired claims after each add').to.deep.equal([8, 6, 4, 2, 0, 0]);
    const { replayed } = await pets.addOnce(rex, ...claimOn('live', { now }));
    expect(replayed, 'the live claim is a replay').to.equal(true);
  });

  it('keeps a claim through a call whose clock is ahead by less than an hour', async () => {
    const { pets } = await testStore();
    await pets.addOnce(rex, ...claimOn('t'));

    await pets.addOnce(rex, ...claimOn('ahead', { now: 3_000_000 }));

    const { replayed } = await pets.addOnce(rex, ...claimOn('t'));
    expect(replayed, 'the claim is a replay').to.equal(true);
  });
});
