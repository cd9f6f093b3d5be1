import { expect } from 'chai';
import fs from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { watchPlaces } from '../../../src/adapters/sqlite/watch-places.js';
import type { PetStatus } from '../../../src/domain/pet-status.js';
import {
  change,
  claimOn,
  cleanUp,
  rejection,
  rex,
  testFile,
  testStore,
  unavailable,
  type TestStore,
} from './temporary-store.js';

const big = { ...rex, name: 'x'.repeat(100_000) };

/** Makes every commit of a new animal fail, and only the commit: a constraint that is checked no earlier. */
const FAIL_COMMITS = `
  CREATE TABLE orphans (pet_id INTEGER REFERENCES pets (id) DEFERRABLE INITIALLY DEFERRED);
  CREATE TRIGGER fail_commits AFTER INSERT ON pets BEGIN INSERT INTO orphans VALUES (-1); END;
`;

describe('an SQLite store in trouble', () => {
  afterEach(cleanUp);

  it('a create is not acknowledged when its commit fails', async () => {
    const { pets, file } = await testStore();
    const other = new DatabaseSync(file);
    other.exec(FAIL_COMMITS);
    const claim = claimOn('t');
    const adds = [pets.add(rex), pets.addOnce(rex, ...claim), pets.add(rex)];
    for (const { message } of await Promise.all(adds.map(unavailable)))
      expect(message).to.equal('FOREIGN KEY constraint failed');
    expect(await pets.list({ limit: 5 })).to.deep.equal([]);
    other.exec('DROP TRIGGER fail_commits');
    other.close();
    expect((await pets.addOnce(rex, ...claim)).replayed).to.equal(false);
  });

  it('tries to write at each check after any commit that failed, until one succeeds', async () => {
    const { pets, file, check } = await testStore();
    const other = new DatabaseSync(file);
    other.exec(FAIL_COMMITS);
    const version = () => other.prepare('PRAGMA data_version').get()?.['data_version'];
    const isWriting = async (): Promise<boolean> => {
      const before = version();
      await check();
      return version() !== before;
    };
    for (let failures = 0; failures < 2; failures += 1) {
      await rejection(pets.add(rex));
      expect([await isWriting(), await isWriting()]).to.deep.equal([true, false]);
    }
    other.close();
  });

  for (const [what, fault, repair, errcode] of [
    ['the disk is full', 'PRAGMA max_page_count = 1', 'PRAGMA max_page_count = 4294967294', 13],
    ['the file cannot be written', 'PRAGMA query_only = ON', 'PRAGMA query_only = OFF', 8],
  ] as const) {
    it(`refuses adds while ${what}, stores nothing of them, reads on, and finds out by itself when it is over`, async () => {
      const { pets, connection, transfer, check } = await testStore();
      const pet = await pets.add(rex);
      connection.exec(fault);
      await check();
      const claim = claimOn('t');
      const adds = [pets.addOnce(big, ...claim), pets.add(big), pets.add(big)];
      const causes = await Promise.all(adds.map(unavailable));
      // Each check fails from now on.
      for (let time = 0; time < 3; time += 1) causes.push(await unavailable(check()));
      for (const cause of causes) expect(cause).to.have.property('errcode', errcode);
      expect(await pets.list({ limit: 5 })).to.deep.equal([pet]);
      connection.exec(repair);
      await check();
      expect(await transfer.readClaims({ limit: 5, now: -1 })).to.deep.equal([]);
      expect((await pets.addOnce(big, ...claim)).replayed).to.equal(false);
      expect(await pets.list({ limit: 5 })).to.have.length(2);
    });
  }

  it('says that no greater id is left after the greatest, whoever stored or reserved it, and reads on', async () => {
    for (const use of [
      async ({ file }: TestStore) =>
        change(file, "INSERT INTO pets VALUES (9223372036854775807, 'Rex', 7, 'sold')"),
      ({ transfer }: TestStore) => transfer.reserveIds(2n ** 63n - 1n),
    ]) {
      const store = await testStore();
      const { pet } = await store.pets.addOnce(rex, ...claimOn('t'));
      await use(store);
      for (const call of [{}, claimOn('other')])
        expect(String(await unavailable(store.pets.add(rex, call)))).to.equal(
          'Error: no greater id is left',
        );
      await store.check();
      expect(await store.pets.list({ limit: 1 })).to.deep.equal([pet]);
      expect((await store.pets.addOnce(rex, ...claimOn('t'))).replayed).to.equal(true);
    }
  });

  it('passes on the faults of the program, and calls only faults of SQLite unavailable', async () => {
    const { pets } = await testStore();
    const wrong = {} as PetStatus;
    expect(await rejection(pets.list({ limit: 5, status: wrong }))).to.be.instanceOf(TypeError);
    expect(await rejection(pets.add({ ...rex, status: wrong }))).to.be.instanceOf(TypeError);
    const refused = unavailable(pets.add({ ...rex, status: 'lost' as PetStatus }));
    expect(await refused).to.have.property('errcode', 275); // SQLITE_CONSTRAINT_CHECK
  });

  it('undoes what a refused write of a turn had done', async () => {
    const { pets, transfer } = await testStore();
    const lost = { id: 8n, ...rex, status: 'lost' as PetStatus };
    const outcomes = await Promise.allSettled([
      pets.add(rex),
      transfer.writePets([{ id: 7n, ...rex }, lost]),
    ]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected']);
    expect(await pets.findById(7n)).to.equal(undefined);
  });

  it('recovers from a transaction that was left open', async () => {
    const { pets, connection } = await testStore();
    connection.exec('BEGIN IMMEDIATE');
    await unavailable(pets.add(rex));
    expect((await pets.add(rex)).id).to.equal(1n);
  });

  it('closes even if it cannot move the log into the file, and loses nothing', async () => {
    const { pets, connection, file, close } = await testStore();
    await pets.add(rex);
    connection.exec('BEGIN IMMEDIATE'); // a transaction prevents it
    await close();
    const store = await testStore(file);
    expect(await store.pets.list({ limit: 5 })).to.have.length(1);
  });

  for (const [what, suffix, removed] of [
    ['file', '', 'animals.db'],
    ['log', '-wal', 'animals.db-wal'],
    ['folder', '', '.'],
  ] as const) {
    it(`notices that its ${what} was removed, and acknowledges nothing into what is gone`, async () => {
      const { pets, apiKeys, file, check } = await testStore();
      await pets.add(rex);
      await check();
      await rm(join(dirname(file), removed), { recursive: true });
      for (const call of [check, () => pets.add(rex), () => apiKeys.revoke('k', Date.now())]) {
        const { message } = await unavailable(call());
        expect(message).to.equal(`${file}${suffix} was removed or replaced`);
      }
      expect(await pets.list({ limit: 5 })).to.have.length(1);
    });
  }

  for (const [when, quiet] of [
    ['soon', 0],
    ['after it stopped looking at the files, because the folder had not changed for long', 2_100],
  ] as const) {
    it(`notices that another file took its place ${when}, and goes on when its own is back`, async () => {
      const { pets, file, check } = await testStore();
      await delay(quiet);
      await pets.add(rex);
      await rename(file, `${file}.away`);
      await writeFile(file, await readFile(`${file}.away`));
      await unavailable(pets.add(rex));
      await unavailable(check());
      await rename(`${file}.away`, file);
      await check();
      expect((await pets.add(rex)).id).to.equal(2n);
    });
  }

  it('notices that its file was removed even if the time of the folder shows no second change, and keeps noticing', async () => {
    const { file } = testFile();
    await writeFile(file, '');
    const folder = dirname(file);
    const { statSync } = fs;
    const { ctimeNs, ctimeMs } = statSync(folder, { bigint: true });
    const coarse = (...given: Parameters<typeof statSync>) =>
      Object.assign(statSync(...given) ?? {}, given[0] === folder && { ctimeNs, ctimeMs });
    const looks = mock.method(fs, 'statSync', coarse);
    syncBuiltinESMExports();
    try {
      const removed = watchPlaces(file);
      expect(removed()).to.equal(undefined);
      await rm(file);
      expect(removed()).to.equal(file);
      mock.method(Date, 'now', () => Number(ctimeMs) + 5000);
      expect([removed(), removed()]).to.deep.equal([file, file]);
      await writeFile(file, '');
      const quiet = watchPlaces(file);
      quiet();
      looks.mock.resetCalls();
      quiet();
      expect(looks.mock.calls.map(({ arguments: [path] }) => path)).to.deep.equal([folder]);
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
  });

  it('says that it is damaged when it reads noise, and reads on elsewhere', async () => {
    const { file } = testFile();
    const first = await openSqliteStore(file);
    for (let index = 0; index < 400; index += 1) {
      void first.pets.add({ ...rex, name: `${index} ${'x'.repeat(1000)}` });
    }
    await first.close();
    const { pets, check } = await testStore(file);
    const content = await readFile(file);
    await writeFile(file, content.fill(0xa5, content.length - 40 * 4096));
    expect(await unavailable(pets.list({ limit: 400 }))).to.have.property('errcode', 11);
    expect(await pets.list({ limit: 5 })).to.have.length(5);
    await writeFile(file, content.fill(0xa5, 4096));
    expect(await unavailable(check())).to.have.property('errcode', 11);
  });
});
