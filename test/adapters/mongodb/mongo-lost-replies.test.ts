import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import type { MongoProxy } from './mongo-proxy.js';
import { clientOf } from './mongo-server.js';
import {
  apiKey,
  claimOn,
  describeStore,
  rejection,
  rex,
  unavailable,
} from './mongo-store-tests.js';

const pets = Array.from({ length: 20 }, (_, index) => petWithId(BigInt(index + 1), rex));

/** Creates whose replies are lost, with the commands that lose two each. All of it must happen once. */
async function loseReplies(
  { pets: repository, apiKeys, transfer, changes }: CompleteStore,
  proxy: MongoProxy,
): Promise<void> {
  const losing = async <T>(command: string, call: () => Promise<T>): Promise<T> => {
    proxy.dropReplies.set(command, 2);
    const result = await call();
    expect(proxy.dropReplies.get(command), `replies to ${command} left to lose`).to.be.below(2);
    return result;
  };

  const plain = await losing('insert', () => repository.add({ ...rex, name: 'plain' }));
  const made = await losing('insert', () => repository.addOnce(rex, claimOn('t'), Date.now()));
  expect(made.replayed).to.equal(false);
  const replay = await losing('find', () => repository.addOnce(rex, claimOn('t'), Date.now()));
  expect(replay).to.deep.equal({ pet: made.pet, replayed: true });
  const lapsed = claimOn('lapsed', { keepUntil: 2000 });
  const first = await repository.addOnce(rex, lapsed, 1000);
  const second = await losing('update', () =>
    repository.addOnce(rex, claimOn('lapsed'), Date.now()),
  );
  expect(second.replayed).to.equal(false);
  expect(await repository.list({ limit: 10 })).to.deep.equal([
    plain,
    made.pet,
    first.pet,
    second.pet,
  ]);

  const sell = () => changes.change(plain.id, { status: 'sold' }, ['available']);
  expect(await losing('update', sell)).to.deep.equal({ ...plain, status: 'sold' });
  expect(await losing('find', () => changes.remove(made.pet.id, PET_STATUSES))).to.equal(true);
  expect(await losing('update', () => changes.remove(second.pet.id, PET_STATUSES))).to.equal(true);
  expect(await changes.remove(second.pet.id, PET_STATUSES)).to.equal(false);
  expect(await repository.list({ limit: 10 })).to.have.lengthOf(2);

  expect(await losing('insert', () => apiKeys.add(apiKey))).to.equal(true);
  expect(await apiKeys.add(apiKey)).to.equal(false);
  const at = 5000;
  const revoked = await losing('findAndModify', () => apiKeys.revoke('k', at));
  expect(revoked).to.deep.equal({ ...apiKey, revokedAt: at });
  expect((await apiKeys.revoke('k', 9000))?.revokedAt).to.deep.equal(at);

  await losing('update', () => transfer.reserveIds(5000n));
  const next = await losing('findAndModify', () => repository.add(rex));
  expect(next.id > 5000n).to.equal(true);
  const copies = pets.map((pet) => petWithId(pet.id + 4000n, pet));
  await losing('update', () => transfer.writePets(copies));
  expect(await repository.list({ after: 4000n, limit: 100 })).to.deep.equal([...copies, next]);
  const claim = { ...claimOn('copied'), petId: 4001n };
  await losing('update', () => transfer.writeClaims([claim]));
  expect(await repository.addOnce(rex, claim, Date.now())).to.deep.equal({
    pet: copies[0],
    replayed: true,
  });
}

describeStore('A MongoDB store whose replies get lost', ({ throughProxy }) => {
  // Without the driver's retries, every retry is this program's own.
  for (const [who, query] of [
    ['', ''],
    [', also if the driver retries nothing', '&retryWrites=false&retryReads=false'],
  ] as const) {
    const title = `does everything once: animals, claims, keys, revocations and copies${who}`;
    throughProxy(title, { query }, ({ store, proxy }) => loseReplies(store, proxy)).timeout(60_000);
  }

  const title =
    'says that it is unavailable when no reply comes at all: the animal is stored at most once';
  throughProxy(title, { timeout: 600 }, async ({ store, proxy, collection }) => {
    await store.pets.add({ ...rex, name: 'first' });
    proxy.dropReplies.set('insert', Infinity);
    await unavailable(store.pets.add(rex));
    expect(await collection('pets').countDocuments({ name: 'Rex' })).to.equal(1);
  });
});

const FAILURES: Readonly<Record<string, object>> = {
  'the connection is closed': { closeConnection: true },
  'the primary is stepping down': { errorCode: 189 },
  'the server is not the primary': { errorCode: 10_107 },
  'the operation was interrupted': { errorCode: 11_602 },
  'the write met another': { errorCode: 112 },
  'the majority is late': {
    writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
  },
};

describeStore('A MongoDB store on a server that fails on demand', ({ server, onStore }) => {
  /** A case during which the server fails `times` times, for this test's client alone. */
  const failing = (
    title: string,
    { times, ...data }: { times: number; failCommands: string[]; [option: string]: unknown },
    test: (store: CompleteStore) => Promise<void>,
  ) =>
    onStore(title, async ({ store, db }) => {
      const admin = clientOf(server).db('admin');
      const configure = (mode: unknown) =>
        admin.command({
          configureFailPoint: 'failCommand',
          mode,
          data: { ...data, appName: db.databaseName },
        });
      await store.pets.add({ ...rex, name: 'first' });
      await configure({ times });
      try {
        await test(store);
      } finally {
        await configure('off');
      }
    });

  for (const [what, data] of Object.entries(FAILURES)) {
    const title = `adds one animal, writes a batch once and sells an animal once, when ${what} three times`;
    const failure = { times: 6, failCommands: ['insert', 'update'], ...data };
    failing(title, failure, async ({ pets: repository, transfer, changes }) => {
      const [first] = await repository.list({ limit: 1 });
      const copies = pets.map(({ id }) => petWithId(id + 2000n, rex));
      const [pet, , changed] = await Promise.all([
        repository.add(rex),
        transfer.writePets(copies),
        changes.change(first?.id ?? 0n, { status: 'sold' }, ['available']),
      ]);
      expect(changed).to.deep.equal({ ...first, status: 'sold' });
      expect((await repository.list({ limit: 100 })).slice(1)).to.deep.equal([pet, ...copies]);
    });
  }

  const slow = { times: 2, failCommands: ['insert'], blockConnection: true, blockTimeMS: 1200 };
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
      expect(await adding).to.include(rex);
    },
  );

  for (const [what, code] of [
    ['lacks the right to', 13],
    ['is overloaded', 462],
    ['does not know why', 8],
  ] as const) {
    const failure = { times: 3, failCommands: ['find'], errorCode: code };
    const title = `says that it is unavailable, without retrying, when the server ${what}`;
    failing(title, failure, async ({ pets: repository }) => {
      const error = await rejection(repository.list({ limit: 5 }));
      expect(error).to.have.property('code', 'service_unavailable');
      expect(error).to.have.nested.property('cause.code', code);
    });
  }
});
