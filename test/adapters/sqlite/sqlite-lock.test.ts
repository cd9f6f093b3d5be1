import { expect } from 'chai';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PAUSE, retryWhileBusy } from '../../../src/adapters/sqlite/busy.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { within } from '../../contract/run-contract.js';
import {
  cleanUp,
  intercept,
  rejection,
  rex,
  testFile,
  testStore,
  unavailable,
} from './temporary-store.js';

/** Another connection that is writing, until `release`. */
function writeLock(file: string): { release(): void } {
  const database = new DatabaseSync(file);
  database.exec('BEGIN IMMEDIATE');
  return { release: () => database.close() };
}

/** Another connection that has the file for itself, until `release`. */
function fileLock(file: string): { release(): void } {
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE pets SET category_id = 8; COMMIT',
  );
  return { release: () => database.close() };
}

/** A lock that SELECT waits for, until `release`. */
const selectLock = () => ({
  release: intercept('exec', (sql) => sql.startsWith('SELECT') && refuse()),
});

/** Runs `work` by a clock that goes on by so many milliseconds each time it is read. */
async function atSteps<Result>(step: number, work: () => Promise<Result>): Promise<Result> {
  let now = 0;
  Object.defineProperty(performance, 'now', { value: () => (now += step), configurable: true });
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(performance, 'now');
  }
}

/** What may have to wait for a lock. */
type Use = (store: CompleteStore) => Promise<unknown>;

function refuse(): never {
  throw Object.assign(new Error('database is locked'), { errcode: 5 });
}

describe('an SQLite store that another connection is writing to', () => {
  afterEach(cleanUp);

  it('goes on serving, opens, and adds as soon as the other is done', async () => {
    const { pets, file } = await testStore();
    const pet = await pets.add(rex);
    const lock = writeLock(file);
    await (await openSqliteStore(file)).close();
    const began = performance.now();
    const added = pets.add(rex);
    for (let turn = 0; turn < 5; turn += 1) {
      await delay(5);
      expect(await pets.findById(pet.id)).to.deep.equal(pet);
    }
    lock.release();
    expect((await added).id).to.equal(2n);
    expect(performance.now() - began).to.be.lessThan(4000); // SQLite's own waiting would hold the thread for 5 s
  });

  it('gives an add up after five seconds, with a signal or without, or when the signal is aborted, and stores nothing of it', async () => {
    const { pets, file } = await testStore();
    const lock = writeLock(file);
    const controller = new AbortController();
    const { signal } = controller;
    const [aborted, ...causes] = await atSteps(1000, async () => {
      const given = rejection(pets.add(rex, { signal }));
      const others = [pets.add(rex), pets.add(rex, { signal: new AbortController().signal })];
      controller.abort(new Error('given up'));
      return Promise.all([given, ...others.map(unavailable)]);
    });
    expect(aborted).to.equal(signal.reason);
    for (const cause of causes) expect(cause).to.have.property('errcode', 5);
    lock.release();
    expect((await pets.add(rex)).id).to.equal(1n);
    expect(await pets.list({ limit: 5 })).to.have.length(1);
  });

  /** Extended codes keep the primary code in their low byte: https://sqlite.org/rescode.html */
  const RETRIED = {
    BUSY: 5,
    BUSY_RECOVERY: 261,
    BUSY_SNAPSHOT: 517,
    BUSY_TIMEOUT: 773,
    PROTOCOL: 15,
  };
  for (const [name, errcode] of Object.entries({ ...RETRIED, LOCKED: 6, IOERR: 10, FULL: 13 })) {
    it(`${name in RETRIED ? 'retries' : 'does not retry'} a read after SQLITE_${name}`, async () => {
      let tries = 0;
      const read = retryWhileBusy('reading', {}, () => {
        tries += 1;
        if (tries === 1) throw Object.assign(new Error(name), { errcode });
      });
      const [{ status }] = await Promise.allSettled([read]);
      expect([status, tries]).to.deep.equal(name in RETRIED ? ['fulfilled', 2] : ['rejected', 1]);
    });
  }

  it('stops retrying a read when its call is aborted', async () => {
    const controller = new AbortController();
    let tries = 0;
    const read = retryWhileBusy('reading', { signal: controller.signal }, () => {
      tries += 1;
      if (tries === 3) controller.abort(new Error('given up'));
      refuse();
    });
    expect(await rejection(read)).to.equal(controller.signal.reason);
    expect(tries).to.equal(3);
  });

  for (const [what, lock, use] of [
    ['opens', fileLock, async () => {}],
    ['reads', selectLock, ({ check }) => check()],
    ['writes', writeLock, ({ pets }) => Promise.all([pets.add(rex), pets.add(rex)])],
  ] as const satisfies ReadonlyArray<readonly [string, typeof fileLock, Use]>) {
    it(`says once in a long wait what it waits for, when it ${what}, and goes on if the listener fails`, async () => {
      const { file } = testFile();
      await (await openSqliteStore(file)).close();
      const lines: string[] = [];
      const held = lock(file);
      const onNotice = (line: string): void => {
        lines.push(line);
        setTimeout(() => held.release(), 300); // some tries later
        throw new Error('a listener that fails');
      };
      // A slow machine must not make it give up.
      await atSteps(0, async () => {
        const store = await openSqliteStore(file, { onNotice });
        await use(store);
        await store.close();
      }).finally(() => lines.length > 0 || held.release());
      expect(lines).to.deep.equal([`waiting: another process has locked ${file}`]);
    });
  }

  it('gives up opening after five seconds in which the other has locked the whole file', async () => {
    const { close, file } = await testStore();
    await close();
    const other = fileLock(file);
    await atSteps(2000, () => unavailable(openSqliteStore(file)));
    other.release();
  });

  it('gives up a read that waits when it is closed', async () => {
    const { pets, close } = await testStore();
    const lock = mock.method(StatementSync.prototype, 'all', refuse);
    const read = unavailable(pets.list({ limit: 5 }));
    await close().finally(() => lock.mock.restore());
    await read;
  });

  it('closes within five seconds, however long another keeps the lock, and stores nothing of what it gives up', async () => {
    const { pets, file, close } = await testStore();
    const lock = writeLock(file);
    // By a clock that stands still no write gives up by itself, as when each of many batches has just begun to wait.
    const causes = await atSteps(0, async () => {
      const adds = Array.from({ length: 1500 }, () => unavailable(pets.add(rex)));
      await within(5000, 'close did not end', close());
      return Promise.all(adds);
    });
    expect(causes).to.have.length(1500);
    lock.release();
    const again = await testStore(file);
    expect(await again.pets.list({ limit: 5 })).to.deep.equal([]);
  });

  it('finishes the writes in progress before it closes', async () => {
    const { pets, file, close } = await testStore();
    const lock = writeLock(file);
    const added = pets.add(rex);
    const closed = close();
    await delay(5);
    lock.release();
    expect((await added).id).to.equal(1n);
    await closed;
    expect(await readdir(dirname(file))).to.deep.equal(['animals.db']);
  });
});

describe('Processes that write to one SQLite store', () => {
  afterEach(cleanUp);
  afterEach(() => mock.restoreAll());

  it('leave the lock to each other between two commits for as long as a waiting one pauses', async () => {
    const { pets, file } = await testStore();
    const other = await testStore(file);
    const events: string[] = [];
    const get: StatementSync['get'] = Reflect.get(StatementSync.prototype, 'get');
    const noteCommits = (): void => {
      mock.method(
        StatementSync.prototype,
        'get',
        function (this: StatementSync, ...given: Parameters<typeof get>) {
          if (this.sourceSQL === 'COMMIT') {
            events.push('commit');
            setTimeout(() => events.push('try of another'), PAUSE);
          }
          return get.apply(this, given);
        },
      );
    };

    // By a clock that stands still the other has always written just now.
    await atSteps(0, async () => {
      await other.pets.add(rex);
      await pets.add(rex); // sees that
      noteCommits();
      for (let count = 0; count < 3; count += 1) await pets.add(rex);
    });

    const expected = ['commit', 'try of another', 'commit', 'try of another', 'commit'];
    expect(events, 'what came one after another').to.deep.equal(expected);
  });
});
