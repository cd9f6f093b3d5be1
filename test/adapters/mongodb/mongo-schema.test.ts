import { expect } from 'chai';
import { setTimeout as delay } from 'node:timers/promises';
import { openMongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { describeOnMongo, uriOf, withDatabase } from './mongo-server.js';
import { FIRST_START_TOLD, claimOn, inDatabase, rex } from './mongo-store-tests.js';

/** Opens a store, and closes it when the database is prepared or nothing more is to be done. */
async function prepare(uri: string, lines: number): Promise<string[]> {
  const told: string[] = [];
  const store = await openMongoStore(uri, { tell: (line) => void told.push(line) });
  while (told.length < lines) await delay(10);
  await store.pets.check();
  if (lines === 0) await delay(300);
  await store.close();
  return told;
}

describeOnMongo('The collections of a MongoDB store', (server) => {
  it(
    'are made with their indexes when it is opened, and told of; opening again changes nothing',
    inDatabase(server, async (database) => {
      const uri = uriOf(server, database);
      const made = await prepare(uri, 6);
      expect(made.sort()).to.deep.equal(FIRST_START_TOLD);
      expect(await prepare(uri, 0)).to.deep.equal([]);
      await withDatabase(server, database, async (client) => {
        const indexes = async (name: string) =>
          (await client.db().collection(name).indexes()).map(({ key, unique, expireAfterSeconds }) => [
            Object.keys(key).join(),
            unique ?? false,
            expireAfterSeconds,
          ]);
        // None is unique but that of the _id: a hashed shard key forbids others.
        const primary = ['_id', false, undefined];
        expect(await indexes('pets')).to.deep.equal([primary, ['status,_id', false, undefined]]);
        expect(await indexes('claims')).to.deep.equal([primary, ['keepUntil', false, 3600]]);
        expect(await indexes('apiKeys')).to.deep.equal([primary]);
        expect(await indexes('deprecatedCalls')).to.deep.equal([primary]);
      });
    }),
  );

  it(
    'are made by five at once without an error',
    inDatabase(server, async (database) => {
      const told: string[] = [];
      const stores = await Promise.all(
        Array.from({ length: 5 }, () =>
          openMongoStore(uriOf(server, database), { tell: (line) => void told.push(line) }),
        ),
      );
      await Promise.all(stores.map(({ pets }) => pets.add(rex)));
      while (!told.some((line) => line.includes('on claims'))) await delay(10);
      await Promise.all(stores.map((store) => store.close()));
      expect(told.filter((line) => line.includes('not prepared'))).to.deep.equal([]);
    }),
  );

  it(
    'are given validator and indexes also when they were there before, with what is in them',
    inDatabase(server, async (database) => {
      await withDatabase(server, database, (client) =>
        client.db().collection<{ _id: bigint }>('pets').insertOne({ _id: 1n }),
      );
      const told = await prepare(uriOf(server, database), 6);
      expect(told).to.include.members([
        'set the validator of the collection pets',
        'made the index status_1__id_1 on pets',
      ]);
    }),
  );

  it(
    'keep a claim by the time that it says, for the sweep to go by',
    inDatabase(server, async (database) => {
      const store = await openMongoStore(uriOf(server, database));
      const claim = claimOn('t');
      await store.pets.add(rex, { claim });
      await store.close();
      await withDatabase(server, database, async (client) => {
        expect(await client.db().collection('claims').findOne()).to.deep.include({
          keepUntil: claim.keepUntil,
        });
      });
    }),
  );
});
