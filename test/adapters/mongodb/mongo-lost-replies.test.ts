import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { until } from '../../until.js';
import { clientOf } from './mongo-server.js';
import { times } from '../../contract/samples.js';
import {
  addOnce,
  apiKey,
  claimOn,
  describeStore,
  expectListed,
  rejection,
  rex,
  succeeding,
  unavailable,
} from './mongo-store-tests.js';

/** Twenty animals with ids above 4000. */
const COPIES = times(20, (number) => petWithId(BigInt(4000 + number), rex));

/** Makes a call while the replies to two commands of this name are lost. At least one reply must have been lost. */
type Losing = <T>(command: string, call: () => Promise<T>) => Promise<T>;

/** What must happen once although replies are lost. */
const ONCE: Readonly<Record<string, (store: CompleteStore, losing: Losing) => Promise<void>>> = {
  'adds an animal': async ({ pets }, losing) => {
    const added = await losing('insert', () => pets.add(rex));

    await expectListed(pets, [added]);
  },

  'adds an animal with a claim, and replays it': async (store, losing) => {
    const made = await losing('insert', () => addOnce(store));
    const replay = await losing('find', () => addOnce(store));

    expect(made.replayed).to.equal(false);
    expect(replay).to.deep.equal({
      pet: made.pet,
      replayed: true,
    });
    await expectListed(store.pets, [made.pet]);
  },

  'replaces an expired claim': async (store, losing) => {
    // Just before: of one that expired long ago, the server itself may delete the document.
    const keepUntil = Date.now() - 1;
    const first = await store.pets.addOnce(rex, claimOn('t', { keepUntil }), keepUntil - 1);
    const second = await losing('update', () => addOnce(store));

    expect(second.replayed).to.equal(false);
    await expectListed(store.pets, [first.pet, second.pet]);
  },

  'changes and removes animals': async ({ pets, changes }, losing) => {
    const { id } = await pets.add(rex);
    const another = await pets.add(rex);
    const sell = () => changes.change(id, { status: 'sold' }, ['available']);

    const sold = await losing('update', sell);
    const removed = await losing('find', () => changes.remove(id, PET_STATUSES));
    const removedToo = await losing('update', () => changes.remove(another.id, PET_STATUSES));
    const removedAgain = await changes.remove(id, PET_STATUSES);

    expect(sold).to.deep.equal({
      ...rex,
      id,
      status: 'sold',
    });
    expect([removed, removedToo, removedAgain]).to.deep.equal([true, true, false]);
    await expectListed(pets, []);
  },

  'adds and revokes an API key': async ({ apiKeys }, losing) => {
    const added = await losing('insert', () => apiKeys.add(apiKey));
    const addedAgain = await apiKeys.add(apiKey);
    const revoked = await losing('findAndModify', () => apiKeys.revoke('k', 5000));
    const revokedAgain = await apiKeys.revoke('k', 9000);

    expect([added, addedAgain]).to.deep.equal([true, false]);
    const expected = { ...apiKey, revokedAt: 5000 };
    expect([revoked, revokedAgain]).to.deep.equal([expected, expected]);
  },

  'reserves ids, and writes a batch of animals and claims': async (store, losing) => {
    const { pets, transfer } = store;
    const claim = { ...claimOn('copied'), petId: 4001n };

    await losing('update', () => transfer.reserveIds(5000n));
    const next = await losing('findAndModify', () => pets.add(rex));
    await losing('update', () => transfer.writePets(COPIES));
    await losing('update', () => transfer.writeClaims([claim]));
    const replay = await addOnce(store, claim);

    expect(next.id, 'the id after the reserved ones').to.be.above(5000n);
    const listed = await pets.list({ after: 4000n, limit: 100 });
    expect(listed).to.deep.equal([...COPIES, next]);
    expect(replay).to.deep.equal({
      pet: COPIES[0],
      replayed: true,
    });
  },
};

describeStore('A MongoDB store whose replies get lost', ({ throughProxy }) => {
  // Without the driver's retries, every retry is this program's own.
  for (const [who, query] of [
    ['', ''],
    [', also if the driver retries nothing', '&retryWrites=false&retryReads=false'],
  ] as const) {
    for (const [what, test] of Object.entries(ONCE)) {
      throughProxy(`${what} once${who}`, { query }, ({ store, proxy }) =>
        test(store, async (command, call) => {
          proxy.dropReplies.set(command, 2);
          const result = await call();
          const left = proxy.dropReplies.get(command);
          expect(left, `replies to ${command} left to lose`).to.be.below(2);
          return result;
        }),
      );
    }
  }

  throughProxy(
    'says that it is unavailable when no reply comes at all: the animal is stored at most once',
    { timeout: 600 },
    async ({ store, proxy, collection }) => {
      await succeeding(() => store.pets.add({ ...rex, name: 'first' }));
      proxy.dropReplies.set('insert', Infinity);

      await unavailable(store.pets.add(rex));

      const count = () => collection('pets').countDocuments({ name: 'Rex' });
      const stored = await until('the animal is stored', async () => (await count()) || undefined);
      expect(stored, 'animals').to.equal(1);
    },
  );
});

const FAILURES: Readonly<Record<string, object>> = {
  'the connection is closed': { closeConnection: true },
  'the primary is stepping down': { errorCode: 189 },
  'the majority is late': {
    writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
  },
};

interface Failure {
  /** How many commands fail. */
  readonly count: number;
  readonly failCommands: readonly string[];
  readonly [option: string]: unknown;
}

describeStore('A MongoDB store on a server that fails on demand', ({ server, onStore }) => {
  /** A case during which the server fails for this test's client alone. */
  const failing = (
    title: string,
    { count, ...failure }: Failure,
    test: (store: CompleteStore) => Promise<void>,
  ) =>
    onStore(title, async ({ store, db }) => {
      const data = { ...failure, appName: db.databaseName };
      const configure = (mode: unknown) =>
        clientOf(server).db('admin').command({
          configureFailPoint: 'failCommand',
          mode,
          data,
        });
      await store.pets.add({ ...rex, name: 'first' });
      await configure({ times: count });
      try {
        await test(store);
      } finally {
        await configure('off');
      }
    });

  for (const [what, data] of Object.entries(FAILURES)) {
    const title = `adds one animal, writes a batch once and sells an animal once, when ${what} three times`;
    const failure = {
      count: 6,
      failCommands: ['insert', 'update'],
      ...data,
    };
    failing(title, failure, async ({ pets, transfer, changes }) => {
      const [first = petWithId(0n, rex)] = await pets.list({ limit: 1 });

      const [added, , sold] = await Promise.all([
        pets.add(rex),
        transfer.writePets(COPIES),
        changes.change(first.id, { status: 'sold' }, ['available']),
      ]);

      const expected = { ...first, status: 'sold' } as const;
      expect(sold).to.deep.equal(expected);
      await expectListed(pets, [expected, added, ...COPIES]);
    });
  }

  const slow = {
    count: 2,
    failCommands: ['insert'],
    blockConnection: true,
    blockTimeMS: 500,
  };
  failing(
    'lets the calls in progress finish before it closes, though one fails',
    slow,
    async (store) => {
      const given = new AbortController();
      const adding = store.pets.add(rex);
      const failed = rejection(store.pets.add(rex, { signal: given.signal }));
      await delay(100);

      const closed = store.close();
      given.abort();
      await Promise.all([failed, closed]);

      const added = await adding;
      expect(added).to.include(rex);
    },
  );

  for (const [what, errorCode] of [
    ['lacks the right to', 13],
    ['is overloaded', 462],
    ['does not know why', 8],
  ] as const) {
    const failure = {
      count: 3,
      failCommands: ['find'],
      errorCode,
    };
    failing(
      `says that it is unavailable, without retrying, when the server ${what}`,
      failure,
      async ({ pets }) => {
        const error = await rejection(pets.list({ limit: 5 }));

        expect(error).to.have.property('code', 'service_unavailable');
        expect(error).to.have.nested.property('cause.code', errorCode);
      },
    );
  }
});
