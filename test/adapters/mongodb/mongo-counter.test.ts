import { expect } from 'chai';
import { unavailable } from '../unavailable.js';
import { MongoProxy } from './mongo-proxy.js';
import { describeOnMongo, inDatabase, withClient } from './mongo-server.js';
import { addOnce, closeAll, open, rex } from './test-store.js';

const BEHIND = /id \d+ is taken.*the counter of ids is behind: restore the whole database\.$/;

describeOnMongo('A MongoDB store whose counter of ids was set back', (server) => {
  const proxy = new MongoProxy(server);
  before(() => proxy.open());
  after(() => proxy.close());
  afterEach(closeAll);

  for (const cuts of [0, 1, 2, 4])
    it(
      `acknowledges only animals that are stored, with ${cuts} connections cut before an insert`,
      inDatabase(server, async (database) => {
        const first = await open(proxy.uri(database));
        // Without a cut, an equal animal must not count as its own, either.
        const name = cuts === 0 ? rex.name : 'another';
        await first.pets.add({ ...rex, name });
        await addOnce(first, 'of another');
        await first.pets.add({ ...rex, name });
        const stored = await first.pets.list({ limit: 10 });
        await withClient(server, (client) =>
          client.db(database).collection('counters').deleteOne({}),
        );

        const store = await open(proxy.uri(database));
        const adding = [
          () => store.pets.add(rex),
          () => addOnce(store, 'new'),
          () => addOnce(store, 'new'),
        ];
        for (const add of adding) {
          let left = cuts;
          proxy.fateOf = (command) => ('insert' in command && left-- > 0 ? 'is lost' : 'passes');
          expect(await unavailable(add())).to.match(BEHIND);
          expect(left, 'cuts that did not happen').to.be.at.most(0);
        }
        proxy.fateOf = () => 'passes';

        const added = await store.pets.add(rex);
        expect(await store.pets.list({ limit: 10 })).to.deep.equal([...stored, added]);
      }),
    );
});
