import { expect } from 'chai';
import type { Db, Document } from 'mongodb';
import type { MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { PET_STATUSES, type PetStatus } from '../../../src/domain/pet.js';
import { savedPet } from '../../../src/domain/pet.js';
import { codeAt } from '../../docs/code-blocks.js';
import { inShell } from '../../docs/in-shell.js';
import { times } from '../../contract/samples.js';
import { describeOnMongo, unlessStandIn, uriOf, withDatabase } from './mongo-server.js';
import { claimOn, inDatabase, openMadeStore, rex } from './mongo-store-tests.js';

const ANIMALS = 3000;
const KEYS = 30;

const LAPSED = { now: new Date(0), keepUntil: new Date(1) };

const key = (number: number) => ({
  id: `k${number}`,
  name: 'a key',
  hash: 'f'.repeat(64),
  scopes: [],
  createdAt: new Date(number),
});

const counted = (number: number) => ({
  day: `2026-11-${number + 10}`,
  operationId: 'getPet',
  keyId: 'k',
  calls: 1,
  lastAt: new Date(number),
});

const BY_ID = /^(?:IDHACK|EXPRESS|IXSCAN \{ _id: 1 \}|CLUSTERED_IXSCAN)/;
const BY_STATUS = /^IXSCAN \{ status: 1, _id: 1 \}$/;
const IN_FULL = /^COLLSCAN$/;

interface Use {
  readonly do: (store: MongoStore) => Promise<unknown>;
  /** The plans of what is read or looked for, in turn. */
  readonly plans: readonly RegExp[];
}

const USES: Readonly<Record<string, Use>> = {
  'the first page': { do: ({ pets }) => pets.list({ limit: 21 }), plans: [BY_ID] },
  'a page in the middle': { do: ({ pets }) => pets.list({ after: 1500n, limit: 21 }), plans: [BY_ID] },
  'the last page': { do: ({ pets }) => pets.list({ after: BigInt(ANIMALS - 3), limit: 21 }), plans: [BY_ID] },
  'the first page of a status': {
    do: ({ pets }) => pets.list({ limit: 21, status: 'sold' }),
    plans: [BY_STATUS],
  },
  'a page of a status in the middle': {
    do: ({ pets }) => pets.list({ after: 1500n, limit: 21, status: 'pending' }),
    plans: [BY_STATUS],
  },
  'an animal': { do: ({ pets }) => pets.findById(1234n), plans: [BY_ID] },
  'an animal that is not there': { do: ({ pets }) => pets.findById(999_999n), plans: [BY_ID] },
  'whether it would serve': { do: ({ pets }) => pets.check(), plans: [IN_FULL] },
  'a block of ids, which asks for the greatest': {
    do: ({ pets }) => pets.add(rex),
    plans: [BY_ID, BY_ID],
  },
  'a claim of which there was one': {
    do: ({ pets }) => pets.add(rex, { claim: claimOn('t', { now: new Date(0) }) }),
    // The claim that is there, and the animal of it.
    plans: [BY_ID, BY_ID],
  },
  'a claim that lapsed': {
    do: ({ pets }) => pets.add(rex, { claim: claimOn('lapsed') }),
    plans: [BY_ID, BY_ID],
  },
  'a key': { do: ({ apiKeys }) => apiKeys.findById('k5'), plans: [BY_ID] },
  'all keys': { do: ({ apiKeys }) => apiKeys.list(), plans: [IN_FULL] },
  'a key to change': {
    do: ({ apiKeys }) => apiKeys.update('k5', (old) => ({ ...old, name: 'another' })),
    plans: [BY_ID, BY_ID],
  },
  'counts to add to': {
    do: ({ deprecatedCalls }) => deprecatedCalls.record({ id: 'c', counts: [counted(3), counted(4)] }),
    plans: [BY_ID, BY_ID],
  },
  'the counts since a day': {
    do: ({ deprecatedCalls }) => deprecatedCalls.list({ since: '2026-11-15' }),
    plans: [BY_ID],
  },
  'a batch of a copy': {
    do: ({ transfer }) => transfer.readPets({ after: 500n, limit: 1000 }),
    plans: [BY_ID],
  },
};

/** What the server says that it did: not what it would do, so plans that it remembers count too. */
async function profileOf(database: Db, use: () => Promise<unknown>): Promise<readonly Document[]> {
  await database.command({ profile: 0 });
  await database.collection('system.profile').drop();
  await database.command({ profile: 2 });
  try {
    await use();
  } finally {
    await database.command({ profile: 0 });
  }
  const entries = await database.collection('system.profile').find().sort({ $natural: 1 }).toArray();
  return entries.filter(({ planSummary }) => planSummary !== undefined);
}

const planOf = (entry: Document | undefined): unknown => entry?.['planSummary'];

const statusOf = (number: number): PetStatus => PET_STATUSES[number % PET_STATUSES.length] ?? 'sold';

const WHY = 'its planner is not that of MongoDB';

unlessStandIn('The query plans of a MongoDB store', WHY, (title) =>
  describeOnMongo(title, (server) => {
    /** Runs a test on a store with animals of every status, mixed. */
    const onStore = (test: (store: MongoStore, database: Db) => Promise<void>): (() => Promise<void>) =>
      inDatabase(server, (name) =>
        withDatabase(server, name, async (client) => {
          const store = await openMadeStore(uriOf(server, name));
          try {
            const { transfer } = store;
            await transfer.writePets(
              times(ANIMALS, (number) => savedPet(BigInt(number), { ...rex, status: statusOf(number) })),
            );
            await transfer.reserveIds(BigInt(ANIMALS));
            await test(store, client.db());
          } finally {
            await store.close();
          }
        }),
      );

    /** A cluster's shards have profilers, the process before them has none. */
    before(function () {
      if (server.name.endsWith('sharded cluster')) this.skip();
    });

    /** Documents of all kinds, made by another process, whose ids are not those at hand. */
    const fill = async (database: string): Promise<void> => {
      const { pets, apiKeys, deprecatedCalls, close } = await openMadeStore(uriOf(server, database));
      try {
        for (const number of times(KEYS, (count) => count)) {
          await apiKeys.add(key(number));
          await pets.add(rex, { claim: claimOn(`t${number}`) });
        }
        await pets.add(rex, { claim: claimOn('t') });
        await pets.add(rex, { claim: claimOn('lapsed', LAPSED) });
        await deprecatedCalls.record({ id: 'b', counts: times(19, counted) });
      } finally {
        await close();
      }
    };

    const readsNoMore = async (store: MongoStore, database: Db): Promise<void> => {
      await fill(database.databaseName);
      for (const [name, { do: use, plans }] of Object.entries(USES)) {
        const done = await profileOf(database, () => use(store));
        expect(done.map(planOf), name).to.have.lengthOf(plans.length);
        for (const [index, plan] of plans.entries()) expect(planOf(done[index]), name).to.match(plan);
        for (const { keysExamined, docsExamined, nreturned, nMatched, hasSortStage } of done) {
          const wanted = Number(nreturned ?? nMatched);
          expect(Number(docsExamined), `${name}: documents`).to.be.at.most(wanted);
          expect(Number(keysExamined), `${name}: keys`).to.be.at.most(wanted);
          expect(hasSortStage, `${name}: sorts`).to.equal(undefined);
        }
      }
    };

    it('read no document that is not wanted, and sort none', onStore(readsNoMore)).timeout(60_000);

    it(
      'are the same with the index that a hashed shard key needs',
      onStore(async (store, database) => {
        const calls = inShell(codeAt('docs/operations/mongodb.md > Sharding > 1'));
        const [, hashed] = calls.find(([name]) => name === 'pets.createIndex') ?? [];
        const made = await database.collection('pets').createIndex(hashed as Record<string, 'hashed'>);
        expect(made).to.equal('_id_hashed');
        await readsNoMore(store, database);
      }),
    ).timeout(60_000);
  }),
);
