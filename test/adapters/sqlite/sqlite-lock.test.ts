import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { retryWhileBusy } from '../../../src/adapters/sqlite/busy.js';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import {
  allPets,
  cleanUp,
  intercept,
  rejection,
  rex,
  testFile,
  testStore,
  unavailable,
} from './temporary-store.js';

/** What another connection holds until it is closed. */
type Lock = Pick<DatabaseSync, 'close'>;

function lockBy(file: string, sql: string): Lock {
  const database = new DatabaseSync(file);
  database.exec(sql);
  return database;
}

const writeLock = (file: string): Lock => lockBy(file, 'BEGIN IMMEDIATE');

/** The file belongs to the other connection alone. */
const fileLock = (file: string): Lock =>
  lockBy(
    file,
    'PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE pets SET category_id = 8; COMMIT',
  );

/** A lock that SELECT waits for. */
const selectLock = (): Lock => ({
  close: intercept('exec', (sql) => sql.startsWith('SELECT') && refuse()),
});

/** As SQLite does at a lock. */
function refuse(): never {
  throw Object.assign(new Error('database is locked'), { errcode: 5 });
}

/** Pauses for 10 ms so many times. A machine that stalls others stalls it as well. */
async function pauses(count: number): Promise<undefined> {
  for (let left = count; left > 0; left -= 1) await delay(10);
  return undefined;
}

/** Runs `work` by a clock that goes on by so many milliseconds each time it is read. */
async function atSteps<Result>(step: number, work: () => Promise<Result>): Promise<Result> {
  let now = 0;
  const value = (): number => {
    now += step;
    return now;
  };
  Object.defineProperty(performance, 'now', { value, configurable: true });
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(performance, 'now');
  }
}

describe('an SQLite store that another connection is writing to', () => {
  afterEach(cleanUp);

  it('goes on serving, opens, and adds as soon as the other is done', async () => {
    const { pets, file, connection } = await testStore();
    const pet = await pets.add(rex);
    const lock = writeLock(file);

    // A slow machine must not make it give up.
    const added = await atSteps(0, async () => {
      await (await openSqliteStore(file)).close();
      const adding = pets.add(rex);
      for (let turn = 0; turn < 5; turn += 1) {
        await delay(5);
        expect(await pets.findById(pet.id), 'read while locked').to.deep.equal(pet);
      }
      lock.close();
      return Promise.race([adding, pauses(50)]);
    });

    expect(added?.id, 'the id').to.equal(2n);
    const { timeout } = connection.prepare('PRAGMA busy_timeout').get() ?? {};
    expect(timeout, 'milliseconds for which SQLite itself holds the thread').to.equal(0);
  });

  it('gives an add up after five seconds, with a signal or without, or when the signal is aborted, and stores nothing of it', async () => {
    const { pets, file } = await testStore();
    const lock = writeLock(file);
    const controller = new AbortController();
    const reason = new Error('given up');

    await atSteps(1000, async () => {
      const aborted = rejection(pets.add(rex, { signal: controller.signal }));
      const others = [pets.add(rex), pets.add(rex, { signal: new AbortController().signal })];
      controller.abort(reason);

      expect(await aborted, 'the aborted add').to.equal(reason);
      for (const cause of await Promise.all(others.map(unavailable)))
        expect(cause, 'the cause for the others').to.have.property('errcode', 5);
    });

    lock.close();
    expect((await pets.add(rex)).id, 'the next id').to.equal(1n);
    expect(await allPets(pets)).to.have.length(1);
  });

  /** Extended codes keep the primary code in their low byte: https://sqlite.org/rescode.html */
  const RETRIED = { BUSY: 5, BUSY_RECOVERY: 261, PROTOCOL: 15 };
  const OTHERS = { LOCKED: 6, IOERR: 10, FULL: 13 };
  for (const [name, errcode] of Object.entries({ ...RETRIED, ...OTHERS })) {
    const isRetried = name in RETRIED;
    it(`${isRetried ? 'retries' : 'does not retry'} a read after SQLITE_${name}`, async () => {
      const read = mock.fn(() => {
        if (read.mock.callCount() === 0) throw Object.assign(new Error(name), { errcode });
      });

      const [{ status }] = await Promise.allSettled([retryWhileBusy('reading', {}, read)]);

      expect(status).to.equal(isRetried ? 'fulfilled' : 'rejected');
      expect(read.mock.callCount(), 'tries').to.equal(isRetried ? 2 : 1);
    });
  }

  it('stops retrying a read when its call is aborted', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const read = mock.fn(() => {
      if (read.mock.callCount() === 2) controller.abort(new Error('given up'));
      refuse();
    });

    const reason = await rejection(retryWhileBusy('reading', { signal }, read));

    expect(reason).to.equal(signal.reason);
    expect(read.mock.callCount(), 'tries').to.equal(3);
  });

  type Use = (store: CompleteStore) => Promise<unknown>;
  const WAITS: ReadonlyArray<readonly [what: string, lock: (file: string) => Lock, use: Use]> = [
    ['opens', fileLock, async () => {}],
    ['reads', selectLock, ({ check }) => check()],
    ['writes', writeLock, ({ pets }) => Promise.all([pets.add(rex), pets.add(rex)])],
  ];
  for (const [what, lock, use] of WAITS) {
    it(`says once in a long wait what it waits for, when it ${what}, and goes on if the listener fails`, async () => {
      const { file } = testFile();
      await (await openSqliteStore(file)).close();
      const held = lock(file);
      const onNotice = mock.fn((_line: string) => {
        setTimeout(() => held.close(), 300); // some tries later
        throw new Error('a listener that fails');
      });

      // A slow machine must not make it give up.
      await atSteps(0, async () => {
        const store = await openSqliteStore(file, { onNotice });
        await use(store);
        await store.close();
      }).finally(() => onNotice.mock.callCount() > 0 || held.close());

      const lines = onNotice.mock.calls.map(({ arguments: [line] }) => line);
      expect(lines).to.deep.equal([`waiting: another process has locked ${file}`]);
    });
  }

  it('gives up opening after five seconds in which the other has locked the whole file', async () => {
    const { close, file } = await testStore();
    await close();
    const lock = fileLock(file);

    await atSteps(2000, () => unavailable(openSqliteStore(file)));

    lock.close();
  });

  it('gives up a read that waits when it is closed', async () => {
    const { pets, close } = await testStore();
    const lock = mock.method(StatementSync.prototype, 'all', refuse);
    const read = unavailable(allPets(pets));

    await close().finally(() => lock.mock.restore());

    await read;
  });

  it('closes within five seconds, however long another keeps the lock, and stores nothing of what it gives up', async () => {
    const { pets, file, close } = await testStore();
    const lock = writeLock(file);

    // By a clock that stands still no write gives up by itself, as when each of many batches has just begun to wait.
    await atSteps(0, async () => {
      const adds = Array.from({ length: 1500 }, () => unavailable(pets.add(rex)));
      const timers = mock.method(globalThis, 'setTimeout', (end: () => void) => setImmediate(end));
      const closing = close();
      timers.mock.restore();

      // Its other steps have a second.
      const ended = closing.then(() => 'closed');
      expect(await Promise.race([ended, pauses(100)])).to.equal('closed');
      await Promise.all(adds);
      const limit = timers.mock.calls[0]?.arguments[1];
      expect(limit, 'the milliseconds after which it gives up').to.be.below(5000);
    });

    lock.close();
    const again = await testStore(file);
    expect(await allPets(again.pets)).to.deep.equal([]);
  });

  it('finishes the writes in progress before it closes', async () => {
    const { pets, file, close } = await testStore();
    const lock = writeLock(file);
    const added = pets.add(rex);

    const closed = close();
    await delay(5);
    lock.close();

    expect((await added).id).to.equal(1n);
    await closed;
    expect(await readdir(dirname(file)), 'no log is left').to.deep.equal(['animals.db']);
  });
});

const STORE = import.meta.resolve('../../../src/adapters/sqlite/index.js');

/** How many adds share a commit. */
const AT_ONCE = 16;

/** Says when it is ready. Then adds animals until the moment that it is told, and says their ids. */
const ADDING = `
  import { once } from 'node:events';
  import { StatementSync } from 'node:sqlite';
  import { openSqliteStore } from '${STORE}';
  const { get } = StatementSync.prototype;
  StatementSync.prototype.get = function (...given) {
    // As on a disk, which is what takes the time of a commit.
    if (this.sourceSQL === 'COMMIT') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 15);
    return get.apply(this, given);
  };
  const { pets, close } = await openSqliteStore(process.argv[1]);
  process.send('ready');
  const [until] = await once(process, 'message');
  const ids = [];
  const add = async () => {
    while (Date.now() < until)
      ids.push(Number((await pets.add({ name: 'Rex', categoryId: 1n, status: 'sold' })).id));
  };
  await Promise.all(Array.from({ length: ${AT_ONCE} }, add));
  await close();
  process.send(ids);
  process.disconnect();`;

describe('Processes that write to one SQLite store', () => {
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await cleanUp();
  });

  it('take turns: mostly another one has the next commit, and each has some', async () => {
    const { file } = testFile();
    await (await openSqliteStore(file)).close();
    for (let count = 0; count < 4; count += 1) {
      const args = ['--input-type=module', '--eval', ADDING, file];
      children.push(spawn(process.execPath, args, { stdio: [0, 1, 2, 'ipc'] }));
    }
    await Promise.all(children.map((child) => once(child, 'message'))); // all are ready

    const told = children.map(async (child, owner) => {
      const [ids] = (await once(child, 'message')) as [readonly number[]];
      return ids.map((id) => ({ id, owner }));
    });
    const until = Date.now() + 2000;
    for (const child of children) child.send(until);
    const adds = (await Promise.all(told)).flat().sort((one, other) => one.id - other.id);

    // Their order, not how many each has: a busy machine stalls one or another.
    const turns = adds.filter(({ owner }, index) => owner !== adds[index - 1]?.owner).length;
    const commits = adds.length / AT_ONCE;
    expect(turns / commits, `turns of ${commits} commits; a fifth without pauses`).to.be.above(0.5);
    expect(new Set(adds.map(({ owner }) => owner))).to.have.property('size', children.length);
  });
});
