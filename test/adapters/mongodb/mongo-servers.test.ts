import { expect } from 'chai';
import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { sampleApiKey } from '../../contract/samples.js';
import { until } from '../../until.js';
import { unavailable } from '../unavailable.js';
import { describeOnOwnServers, withClient } from './mongo-server.js';
import { ReplicaSet, SET } from './mongod.js';
import { addOnce, closeAll, open, rex } from './test-store.js';

type Callback = (error: Error | null, found: LookupAddress[]) => void;

const untilReady = ({ check }: CompleteStore): Promise<boolean> =>
  until('the store is ready', () =>
    check().then(
      () => true,
      () => false,
    ),
  );

describeOnOwnServers('A MongoDB store', (create, binary) => {
  afterEach(closeAll);

  it('opens while its servers are unreachable, says why, and serves once they start', async () => {
    const server = await create();
    const store = await open(server.uri('animals'));
    expect(await unavailable(store.check())).to.include('ECONNREFUSED');
    expect(await unavailable(store.pets.add(rex))).to.include('ECONNREFUSED');

    await server.start();
    await untilReady(store);
  });

  it('names both replica sets if its servers belong to another one', async () => {
    const server = await (await create()).start();
    const url = server.uri('animals').replace('directConnection=true', 'replicaSet=others');
    const store = await open(url);
    for (const name of ['others', SET]) expect(await unavailable(store.check())).to.include(name);
  });

  it('works with as few rights as its operations need, and names a missing one', async () => {
    const server = await (await create({ replicaSet: false })).start('--auth');
    const uriOf = (login: string) => `${server.uri('animals', login)}&authSource=admin`;
    await server.administer({ createUser: 'root', pwd: 'x', roles: ['root'] });
    await withClient({ uri: uriOf('root:x@') }, async (client) => {
      const actions = ['find', 'insert', 'update', 'remove', 'listCollections', 'listIndexes'];
      const privileges = [{ resource: { db: 'animals', collection: '' }, actions }];
      const admin = client.db('admin');
      await admin.command({ createRole: 'writing', privileges, roles: [] });
      await admin.command({ createUser: 'writer', pwd: 'x', roles: ['writing'] });
      const roles = [{ role: 'read', db: 'animals' }];
      await admin.command({ createUser: 'reader', pwd: 'x', roles });
    });
    const root = await open(uriOf('root:x@'));
    const writer = await open(uriOf('writer:x@'));
    const reader = await open(uriOf('reader:x@'));
    const stranger = await open(uriOf('root:wrong@'));
    expect(await unavailable(stranger.check())).to.include('Authentication failed');
    const { pet } = await addOnce(root, 'k');
    expect(await addOnce(writer, 'k'), 'without createIndex').to.include({ replayed: true });
    expect(await reader.pets.list({ limit: 5 })).to.deep.equal([pet]);
    expect(await unavailable(reader.pets.add(rex))).to.include('not authorized');
  });

  it('reads without a majority, and says of every write that it is missing', async () => {
    const set = await ReplicaSet.start(binary, { arbiter: true });
    try {
      const store = await open(set.uri('animals'));
      const { pets, changes, apiKeys, transfer } = store;
      // The set has just begun: the majority may be late.
      const { id } = await until('an animal is added', () => pets.add(rex).catch(() => undefined));
      await set.members[1]?.kill();

      const writes = [
        pets.add(rex),
        addOnce(store, 'k'),
        changes.change(id, { name: 'Max' }, undefined),
        changes.remove(id, undefined),
        apiKeys.add(sampleApiKey()),
        transfer.writePets([], 5000n),
      ];
      for (const cause of await Promise.all(writes.map(unavailable)))
        expect(cause).to.include('waiting for replication timed out');
      await store.check();
      expect(await pets.findById(id)).to.deep.equal({ id, ...rex });
    } finally {
      await closeAll();
      await set.remove();
    }
  });

  it('works although the look-up of the name of another server hangs', async () => {
    const server = await create();
    await server.start();
    const host = server.host.replace('127.0.0.1', 'localhost');
    const members = [
      { _id: 0, host },
      { _id: 1, host: '127.hangs.test:1', votes: 0, priority: 0 },
    ];
    const config = { _id: SET, version: 2, members, settings: { electionTimeoutMillis: 500 } };
    await server.administer({ replSetReconfig: config, force: true });

    const restore = resolveTwoAtATime();
    try {
      const store = await open(`mongodb://${host}/animals?replicaSet=${SET}`);
      const pet = await store.pets.add(rex);
      await server.kill();
      await unavailable(store.pets.add(rex)); // takes long enough to look the name up again
      await server.listen();
      await untilReady(store);
      expect(await store.pets.list({ limit: 5 })).to.deep.equal([pet]);
    } finally {
      restore();
    }
  });
});

/** Makes Node.js resolve two names at a time, as its thread pool does. The look-up of `127.hangs.test` never ends. */
function resolveTwoAtATime(): () => void {
  const { lookup } = dns;
  const waiting: Array<() => void> = [];
  let places = 2;
  const next = (): void => {
    if (places > 0) waiting.shift()?.();
  };
  const resolve = (name: string, options: LookupAllOptions, callback: Callback): void => {
    waiting.push(() => {
      places -= 1;
      if (name === '127.hangs.test') return;
      lookup(name, options, (...found) => {
        places += 1;
        callback(...found);
        next();
      });
    });
    next();
  };
  dns.lookup = resolve as typeof lookup;
  syncBuiltinESMExports();
  return () => {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  };
}
