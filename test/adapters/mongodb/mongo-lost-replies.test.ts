import { expect } from 'chai';
import type { Document } from 'mongodb';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { sampleApiKey } from '../../contract/samples.js';
import { unavailable } from '../unavailable.js';
import { MongoProxy, type Fate } from './mongo-proxy.js';
import { describeOnMongo, inDatabase } from './mongo-server.js';
import { addOnce, closeAll, open, rex } from './test-store.js';

describeOnMongo('A MongoDB store on a network that loses messages', (server) => {
  const proxy = new MongoProxy(server);
  before(() => proxy.open());
  after(() => proxy.close());
  let left = 0;
  afterEach(() => {
    proxy.fateOf = () => 'passes';
    left = 0;
    return closeAll();
  });

  /** A fate for the next commands of a name, as often as given. The driver repeats each command once. */
  function losing(name: string, times: number, fate: Fate): void {
    expect(left, 'losses that did not happen').to.be.at.most(0);
    left = times;
    proxy.fateOf = (command) => (name in command && left-- > 0 ? fate : 'passes');
  }

  /** A case with a URL behind the proxy. All its losses must happen. */
  const withUrl = (test: (url: string) => Promise<void>) =>
    inDatabase(server, async (database) => {
      await test(proxy.uri(database));
      expect(left, 'losses that did not happen').to.be.at.most(0);
    });

  /** A case with a store behind the proxy, which holds Rex. */
  const withStore = (test: (store: CompleteStore, id: bigint) => Promise<void>) =>
    withUrl(async (url) => {
      const store = await open(url);
      const { id } = await store.pets.add(rex);
      await test(store, id);
    });

  for (const fate of ['is lost', 'loses its reply'] as const)
    for (const times of [1, 2, 3]) {
      it(
        `adds an animal once when its insert ${fate} ${times} times`,
        withStore(async ({ pets }, id) => {
          losing('insert', times, fate);
          const added = await pets.add(rex);
          const listed = await pets.list({ limit: 5 });
          expect(listed).to.deep.equal([{ id, ...rex }, added]);
        }),
      );

      it(
        `adds an animal once for a claim, and then replays it, when its insert ${fate} ${times} times`,
        withStore(async (store, id) => {
          losing('insert', times, fate);
          const { pet, replayed } = await addOnce(store, 'k');
          expect(replayed).to.equal(false);
          losing('insert', times, fate);
          const again = await addOnce(store, 'k');
          expect(again).to.deep.equal({ pet, replayed: true });
          const listed = await store.pets.list({ limit: 5 });
          expect(listed).to.deep.equal([{ id, ...rex }, pet]);
        }),
      );
    }

  it(
    'adds the first animal, and reads it, when three replies are lost each time',
    withUrl(async (url) => {
      const store = await open(url);
      losing('findAndModify', 3, 'loses its reply');
      const pet = await store.pets.add(rex);
      losing('find', 3, 'loses its reply');
      expect(await store.pets.findById(pet.id)).to.deep.equal(pet);
    }),
  );

  it(
    'adds and revokes an API key once when three replies are lost',
    withStore(async ({ apiKeys }) => {
      const apiKey = sampleApiKey();
      losing('insert', 3, 'loses its reply');
      expect(await apiKeys.add(apiKey), 'the first add').to.equal(true);
      expect(await apiKeys.add(apiKey), 'the second add').to.equal(false);
      losing('findAndModify', 3, 'loses its reply');
      expect(await apiKeys.revoke('k1', 5)).to.deep.equal({ ...apiKey, revokedAt: 5 });
    }),
  );

  it(
    'changes and removes once when one reply is lost',
    withStore(async ({ changes }, id) => {
      losing('findAndModify', 1, 'loses its reply');
      const sold = await changes.change(id, { status: 'sold' }, 'available');
      expect(sold).to.include({ id, status: 'sold' });
      losing('findAndModify', 1, 'loses its reply');
      expect(await changes.remove(id, 'sold')).to.equal(true);
    }),
  );

  it(
    'says that the outcome of a change is unknown when both its replies are lost',
    withStore(async ({ pets, changes }, id) => {
      losing('findAndModify', 2, 'loses its reply');
      await unavailable(changes.change(id, { status: 'sold' }, 'available'));
      expect(await pets.findById(id)).to.include({ status: 'sold' });
      losing('findAndModify', 2, 'is lost');
      await unavailable(changes.remove(id, undefined));
      expect(await pets.findById(id)).to.include({ status: 'sold' });
    }),
  );

  it(
    'writes and reads with a majority on the primary, whatever the URL says',
    withUrl(async (url) => {
      const options = 'w=1&journal=false&readConcernLevel=local&readPreference=secondary';
      const commands: Document[] = [];
      proxy.fateOf = (command) => {
        commands.push(command);
        return 'passes';
      };
      const { pets, changes } = await open(`${url}&${options}`);
      const { id } = await pets.add(rex);
      await changes.remove(id, undefined);
      await pets.list({ limit: 5 });

      const majority = { w: 'majority', j: true };
      for (const name of ['insert', 'findAndModify']) {
        const write = commands.find((command) => name in command);
        expect(write?.['writeConcern']).to.deep.include(majority);
      }
      const read = commands.findLast((command) => 'find' in command);
      expect(read?.['readConcern']).to.deep.equal({ level: 'majority' });
    }),
  );
});
