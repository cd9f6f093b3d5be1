import { expect } from 'chai';
import type { Db, Document } from 'mongodb';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { codeAt } from '../../docs/code-blocks.js';
import { inShell } from '../../docs/in-shell.js';
import { clientOf, describeOnMongo, dropDatabase, newDatabaseName, uriOf } from './mongo-server.js';
import { times } from '../../contract/samples.js';
import {
  addOnce,
  apiKey,
  claimOn,
  openNoting,
  rex,
  untilIndexed,
  type AnyDocument,
} from './mongo-store-tests.js';

const ANIMALS = 2000;
const OTHERS = 30;
/** How many animals were removed, in front of the others. */
const REMOVED = 500;

const USES: Readonly<Record<string, (store: CompleteStore) => Promise<unknown>>> = {
  'the first page': ({ pets }) => pets.list({ limit: 21 }),
  'a page in the middle': ({ pets }) => pets.list({ after: 1500n, limit: 21 }),
  'the first page of a status': ({ pets }) => pets.list({ limit: 21, status: 'sold' }),
  'a page of a status in the middle': ({ pets }) =>
    pets.list({
      after: 1500n,
      limit: 21,
      status: 'pending',
    }),
  'an animal': ({ pets }) => pets.findById(1234n),
  'a block of ids, which looks for the greatest': ({ pets }) => pets.add(rex),
  'a claim that was made before': (store) => addOnce(store, claimOn('t1')),
  'a claim that has expired': ({ pets }) => pets.addOnce(rex, claimOn('t2'), Date.UTC(2100, 0)),
  'a key': ({ apiKeys }) => apiKeys.findById('k5'),
  'a key to revoke': ({ apiKeys }) => apiKeys.revoke('k5', Date.now()),
};

/** What the server says that it did: not what it would do, so plans that it remembers count, too. */
async function profileOf(db: Db, use: () => Promise<unknown>): Promise<readonly Document[]> {
  const profile = db.collection('system.profile');
  await db.command({ profile: 0 });
  await profile.drop();
  await db.command({ profile: 2 });
  await use();
  await db.command({ profile: 0 });
  const entries = await profile.find().sort({ $natural: 1 }).toArray();
  return entries.filter(({ planSummary }) => planSummary !== undefined);
}

/** Holds for a command that read no document that is not wanted, and sorted none. */
function expectDirect(entry: Document, name: string): void {
  const wanted = Number(entry['nreturned'] ?? entry['nMatched']);
  // A list of every status looks one key ahead in each.
  const keys = wanted + PET_STATUSES.length - 1;
  expect(Number(entry['docsExamined']), `${name}: documents`).to.be.at.most(wanted);
  expect(Number(entry['keysExamined']), `${name}: keys`).to.be.at.most(keys);
  expect(entry['hasSortStage'], `${name}: sorts`).to.equal(undefined);
}

describeOnMongo('The query plans of a MongoDB store', (server) => {
  const database = newDatabaseName();
  const db = (): Db => clientOf(server).db(database);

  const timeout = 20_000;

  before(async function () {
    const { msg } = await db().admin().command({ hello: 1 });
    // A cluster's shards have profilers, the process before them has none.
    if (msg === 'isdbgrid') this.skip();
    const animals = times(ANIMALS, (number) => {
      const status = PET_STATUSES[number % 3] ?? 'sold';
      return petWithId(BigInt(REMOVED + number), { ...rex, status });
    });
    const removedUntil = new Date(Date.now() + 86_400_000);
    const removed = times(REMOVED, (id) => ({
      _id: BigInt(id),
      removedUntil,
    }));
    const { store, notices } = await openNoting(uriOf(server, database), { timeout });
    await store.transfer.writePets(animals);
    await store.transfer.reserveIds(BigInt(REMOVED + ANIMALS));
    await db().collection<AnyDocument>('pets').insertMany(removed);
    for (let number = 1; number <= OTHERS; number += 1) {
      await store.apiKeys.add({ ...apiKey, id: `k${number}` });
      await addOnce(store, claimOn(`t${number}`));
    }
    await untilIndexed(notices);
    await store.close();
  });
  after(() => dropDatabase(server, database));

  /** Uses a store without ids in hand, which prepares nothing in the background. */
  async function checkPlans(): Promise<void> {
    const options = { timeout, mode: 'existing' } as const;
    await using store = await openMongoStore(uriOf(server, database), options);
    for (const [name, run] of Object.entries(USES)) {
      const entries = await profileOf(db(), () => run(store));
      expect(entries, name).to.not.be.empty;
      for (const entry of entries) expectDirect(entry, name);
    }
  }

  it('read no document that is not wanted, and sort none', checkPlans);

  it('are the same with the index that a hashed shard key needs', async () => {
    const calls = inShell(codeAt('docs/operations/mongodb.md > Sharding > 1'));
    const [, hashed] = calls.find(([name]) => name === 'pets.createIndex') ?? [];
    const name = await db()
      .collection('pets')
      .createIndex(hashed as { _id: 'hashed' });
    expect(name).to.equal('_id_hashed');
    await checkPlans();
  });
});
