import { expect } from 'chai';
import fs from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { inPlaceChecker } from '../../../src/adapters/sqlite/in-place-checker.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import type { PetStatus } from '../../../src/domain/pet-status.js';
import {
  allPets,
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

/** A status that no animal has. */
const lost = 'lost' as PetStatus;

/** Makes every commit of a new animal fail, and only the commit: a constraint that is checked no earlier. */
const FAIL_COMMITS = `
  CREATE TABLE orphans (pet_id INTEGER REFERENCES pets (id) DEFERRABLE INITIALLY DEFERRED);
  CREATE TRIGGER fail_commits AFTER INSERT ON pets BEGIN INSERT INTO orphans VALUES (-1); END;
`;

/** Stops the clock, until the mocks are restored. The function that it returns lets five seconds pass at once. */
function stopClock(): () => void {
  let now = Date.now();
  mock.method(Date, 'now', () => now);
  return () => {
    now += 5000;
  };
}

describe('an SQLite store in trouble', () => {
  afterEach(cleanUp);

  it('a create is not acknowledged when its commit fails', async () => {
    const { pets, file } = await testStore();
    change(file, FAIL_COMMITS);
    const claim = claimOn('t');

    const adds = [pets.add(rex), pets.addOnce(rex, ...claim), pets.add(rex)];

    for (const { message } of await Promise.all(adds.map(unavailable)))
      expect(message).to.equal('FOREIGN KEY constraint failed');
    expect(await allPets(pets)).to.deep.equal([]);
    change(file, 'DROP TRIGGER fail_commits');
    const { replayed } = await pets.addOnce(rex, ...claim);
    expect(replayed, 'a retry is a replay').to.equal(false);
  });

  it('tries to write at each check after any commit that failed, until one succeeds', async () => {
    const { pets, file, check } = await testStore();
    using other = new DatabaseSync(file);
    other.exec(FAIL_COMMITS);
    /** It changes with each commit of the store. */
    const version = () => other.prepare('PRAGMA data_version').get()?.['data_version'];

    for (const time of ['first', 'second']) {
      await rejection(pets.add(rex));

      const before = version();
      await check();
      const written = version();
      expect(written, `after the ${time} failure the check writes`).to.not.equal(before);
      await check();
      expect(version(), 'the next check does not').to.equal(written);
    }
  });

  for (const [what, fault, repair, errcode] of [
    ['the disk is full', 'PRAGMA max_page_count = 1', 'PRAGMA max_page_count = 4294967294', 13],
    ['the file cannot be written', 'PRAGMA query_only = ON', 'PRAGMA query_only = OFF', 8],
  ] as const) {
    it(`refuses adds while ${what}, stores nothing of them, reads on, and finds out by itself when it is over`, async () => {
      const { pets, connection, transfer, check } = await testStore();
      const pet = await pets.add(rex);
      const claim = claimOn('t');
      connection.exec(fault);
      await check(); // nothing has failed yet

      const adds = [pets.addOnce(big, ...claim), pets.add(big), pets.add(big)];
      const causes = await Promise.all(adds.map(unavailable));
      for (let time = 0; time < 3; time += 1) causes.push(await unavailable(check()));

      for (const cause of causes) expect(cause).to.have.property('errcode', errcode);
      expect(await allPets(pets)).to.deep.equal([pet]);
      connection.exec(repair);
      await check();
      expect(await transfer.readClaims({ limit: 5, now: -1 }), 'claims').to.deep.equal([]);
      const { replayed } = await pets.addOnce(big, ...claim);
      expect(replayed, 'a retry is a replay').to.equal(false);
      expect(await allPets(pets)).to.have.length(2);
    });
  }

  const USES = {
    stored: async ({ file }: TestStore) =>
      change(file, "INSERT INTO pets VALUES (9223372036854775807, 'Rex', 7, 'sold')"),
    reserved: ({ transfer }: TestStore) => transfer.reserveIds(2n ** 63n - 1n),
  };
  for (const [how, use] of Object.entries(USES)) {
    it(`says that no greater id is left after the greatest was ${how}, and reads on`, async () => {
      const store = await testStore();
      const { pets } = store;
      const { pet } = await pets.addOnce(rex, ...claimOn('t'));
      await use(store);

      const adds = [pets.add(rex), pets.addOnce(rex, ...claimOn('other'))];

      for (const { message } of await Promise.all(adds.map(unavailable)))
        expect(message).to.equal('no greater id is left');
      await store.check();
      expect(await pets.list({ limit: 1 })).to.deep.equal([pet]);
      const { replayed } = await pets.addOnce(rex, ...claimOn('t'));
      expect(replayed, 'the earlier add is replayed').to.equal(true);
    });
  }

  it('passes on the faults of the program, and calls only faults of SQLite unavailable', async () => {
    const { pets } = await testStore();
    const wrong = {} as PetStatus;

    const calls = [pets.list({ limit: 5, status: wrong }), pets.add({ ...rex, status: wrong })];
    const refused = unavailable(pets.add({ ...rex, status: lost }));

    for (const call of calls) expect(await rejection(call)).to.be.instanceOf(TypeError);
    expect(await refused).to.have.property('errcode', 275); // SQLITE_CONSTRAINT_CHECK
  });

  it('undoes what a refused write of a turn had done', async () => {
    const { pets, transfer } = await testStore();
    const written = { id: 7n, ...rex };

    const added = pets.add(rex);
    await unavailable(transfer.writePets([written, { ...written, id: 8n, status: lost }]));

    expect((await added).id, 'the other write of the turn').to.equal(1n);
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
    expect(await allPets(store.pets)).to.have.length(1);
  });

  for (const [what, suffix, removed] of [
    ['file', '', 'animals.db'],
    ['log', '-wal', 'animals.db-wal'],
    ['folder', '', '.'],
  ] as const) {
    it(`notices that its ${what} was removed, and acknowledges nothing that no file holds`, async () => {
      const { pets, apiKeys, file, check } = await testStore();
      await pets.add(rex);
      await check();

      await rm(join(dirname(file), removed), { recursive: true });

      for (const call of [check, () => pets.add(rex), () => apiKeys.revoke('k', Date.now())]) {
        const { message } = await unavailable(call());
        expect(message).to.equal(`${file}${suffix} was removed or replaced`);
      }
      expect(await allPets(pets)).to.have.length(1);
    });
  }

  it('notices that another file took its place, and goes on when its own is back', async () => {
    const { pets, file, check } = await testStore();
    const aside = `${file}.aside`;
    await pets.add(rex);

    await rename(file, aside);
    await writeFile(file, await readFile(aside));

    await unavailable(pets.add(rex));
    await unavailable(check());
    await rename(aside, file);
    await check();
    expect((await pets.add(rex)).id).to.equal(2n);
  });

  describe('watches its file:', () => {
    let file: string;
    let folder: string;
    beforeEach(async () => {
      ({ file, folder } = testFile());
      await writeFile(file, '');
    });
    afterEach(() => {
      mock.restoreAll();
      syncBuiltinESMExports();
    });

    /** The folder shows its time as it is now from now on. Returns the paths that are looked at. */
    function stopTimeOfFolder(): unknown[] {
      const looked: unknown[] = [];
      const { statSync } = fs;
      const { ctimeNs, ctimeMs } = statSync(folder, { bigint: true });
      mock.method(fs, 'statSync', (...given: Parameters<typeof statSync>) => {
        looked.push(given[0]);
        const stats = statSync(...given);
        return stats && given[0] === folder ? Object.assign(stats, { ctimeNs, ctimeMs }) : stats;
      });
      syncBuiltinESMExports();
      return looked;
    }

    it('notices that it was removed although the time of the folder shows no second change', async () => {
      const skipTime = stopClock();
      stopTimeOfFolder();
      const requireInPlace = inPlaceChecker(file);
      requireInPlace();

      await rm(file);

      expect(requireInPlace, 'at once').to.throw(UnavailableError);
      skipTime();
      expect(requireInPlace, 'later').to.throw(UnavailableError);
      expect(requireInPlace, 'later, again').to.throw(UnavailableError);
    });

    it('looks only at the folder once that has not changed for long', () => {
      const requireInPlace = inPlaceChecker(file);
      stopClock()();
      requireInPlace();
      const looked = stopTimeOfFolder();

      requireInPlace();

      expect(looked).to.deep.equal([folder]);
    });

    it('notices that it was removed after it looked only at the folder', async () => {
      const requireInPlace = inPlaceChecker(file);
      stopClock()();
      requireInPlace();
      await delay(50); // more than the resolution of the system's clock

      await rm(file);

      expect(requireInPlace).to.throw(UnavailableError);
    });
  });

  it('says that it is damaged when it reads noise, and reads on elsewhere', async () => {
    const { file } = testFile();
    const first = await openSqliteStore(file);
    for (let index = 0; index < 400; index += 1)
      void first.pets.add({ ...rex, name: `${index} ${'x'.repeat(1000)}` });
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
