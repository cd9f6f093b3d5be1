import { expect } from 'chai';
import { MongoNetworkError, type MongoClient } from 'mongodb';
import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openMongoStore } from '../../../src/adapters/mongodb/index.js';
import { MongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { until } from '../../until.js';
import { MongoProxy } from './mongo-proxy.js';
import { clientOf, describeOnMongo, dropDatabase, newDatabaseName, uriOf } from './mongo-server.js';
import {
  claimOn,
  describeStore,
  rejection,
  rex,
  unavailable,
  untilReady,
} from './mongo-store-tests.js';

const execute = promisify(execFile);

/** What a busy machine may take beside what is promised, in milliseconds. */
const BUSY = 4000;

/** What a call resolves to, and how long that takes, in milliseconds. */
async function timed<Outcome>(call: Promise<Outcome>): Promise<{ outcome: Outcome; took: number }> {
  const began = performance.now();
  const outcome = await call;
  return { outcome, took: performance.now() - began };
}

/** The result of a call that may need several tries: its timeout is short, and machines are busy. */
const succeeding = <T extends object>(call: () => Promise<T | undefined>): Promise<T> =>
  until('the call succeeds', () => call().catch(() => undefined));

const OPERATIONS: Readonly<
  Record<string, (store: CompleteStore, signal: AbortSignal) => Promise<unknown>>
> = {
  'add with a claim': ({ pets }, signal) => pets.addOnce(rex, claimOn('t'), Date.now(), { signal }),
  list: ({ pets }, signal) => pets.list({ limit: 20 }, { signal }),
  revoke: ({ apiKeys }, signal) => apiKeys.revoke('k', Date.now(), { signal }),
  writePets: ({ transfer }, signal) => transfer.writePets([{ ...rex, id: 1n }], { signal }),
};

describe('A MongoDB store that hears again and again that its database is unreachable', () => {
  it('refuses calls at once from its timeout after the first time', async () => {
    const client = new EventEmitter();
    Object.assign(client, { db: () => ({}), connect: () => new Promise(() => {}) });
    const connection = new MongoConnection(client as MongoClient, 'db', {
      timeout: 200,
      mode: 'read',
    });
    const lose = (reason: string): void => {
      const servers = new Map([
        ['a:1', { isWritable: false, error: new MongoNetworkError(reason) }],
      ]);
      client.emit('topologyDescriptionChanged', { newDescription: { type: 'Unknown', servers } });
    };
    lose('refused');
    await delay(200);
    lose('silent');
    // A call that waited would say that no answer came in time.
    expect(await unavailable(connection.run('trying', {}, async () => {}))).to.equal('silent');
  });
});

describe('A MongoDB store that is closed before it could prepare its database', () => {
  it('does not keep its process for the pause before the next try', async () => {
    const entry = new URL('../../../src/adapters/mongodb/index.js', import.meta.url).href;
    const code = `
      import { openMongoStore } from '${entry}';
      const store = await openMongoStore('mongodb://127.0.0.1:1/db?serverSelectionTimeoutMS=1');
      await store.close();
      setImmediate(() => console.log(process.getActiveResourcesInfo()));`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code]);
    expect(stdout).to.match(/^\[/).and.not.include('Timeout');
  });
});

describeOnMongo('A MongoDB store whose database is unreachable', (server) => {
  let proxy: MongoProxy;
  let database: string;
  let uri: string;
  const notices: string[] = [];
  beforeEach(async () => {
    notices.length = 0;
    database = newDatabaseName();
    proxy = await new MongoProxy(server).open();
    uri = uriOf(server, database, proxy.host);
  });
  afterEach(async () => {
    await proxy.close();
    await dropDatabase(server, database);
  });
  const onNotice = (line: string): void => void notices.push(line);

  // A store that may be new is tested through the whole service.
  it('opens also if it must exist, says why it is unavailable, and serves once the database is there', async () => {
    await proxy.close();
    const store = await openMongoStore(uri, { timeout: 2000, mode: 'existing' });
    expect(await unavailable(store.check())).to.match(/^connect ECONNREFUSED /);
    await proxy.open();
    await untilReady(store);
    await store.close();
  });

  for (const [options, reason] of [
    ['compressors=snappy', /Optional module `snappy` not found/],
    ['loadBalanced=true', /does not support|load balanc/],
    ['authMechanism=MONGODB-AWS', /credential-providers/],
  ] as const) {
    it(`says within five seconds why ${options} does not work`, async () => {
      const url = uriOf(server, database).replace(
        /directConnection=[^&]*&?|replicaSet=[^&]*&?/g,
        '',
      );
      const store = await openMongoStore(`${url}&${options}`, { onNotice, timeout: 1000 });
      await until(
        'it says why',
        async () => notices.some((line) => reason.test(line)),
        5000 + BUSY,
      );
      expect(await unavailable(store.check())).to.match(reason);
      await store.close();
    }).timeout(30_000);
  }

  for (const options of ['minPoolSize=60', 'MINPOOLSIZE=60&appname=x'])
    it(`serves with ${options}, above its own default maximum`, async () => {
      const store = await openMongoStore(`${uri}&${options}`.replace(/appName=[^&]*/, ''));
      await untilReady(store);
      await store.close();
    });

  it('refuses calls at once after five seconds, also while the name of the cluster is unknown', async () => {
    const timeout = 200;
    const store = await openMongoStore('mongodb+srv://cluster.example.invalid/db', {
      timeout,
      onNotice,
    });
    await rejection(store.pets.list({ limit: 5 }));
    await delay(timeout);
    // A call that waited would say that no answer came in time.
    expect(await unavailable(store.pets.list({ limit: 5 }))).to.match(/querySrv/);
    // The first call of a copy: a mistyped URL must not cost a minute.
    expect(await unavailable(store.transfer.survey())).to.match(/querySrv/);
    await store.close();
    expect(
      notices.filter((line) => line.startsWith('the database is unreachable: querySrv ')),
    ).to.have.length(1);
  });

  it('closes soon although the URL lets it connect for a minute, and makes nothing afterwards', async () => {
    const connecting = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    proxy.onMessage = () => {
      connecting.resolve();
      return released.promise;
    };
    const patient = `${uri}&serverSelectionTimeoutMS=60000&connectTimeoutMS=60000`;
    const store = await openMongoStore(patient, { timeout: 60_000, onNotice });
    const adding = rejection(store.pets.add(rex));
    await connecting.promise;
    const { took } = await timed(store.close());
    expect(took).to.be.below(BUSY);
    expect(await adding).to.have.property('code', 'service_unavailable');
    released.resolve();
    await delay(200);
    expect(await clientOf(server).db(database).listCollections().toArray()).to.deep.equal([]);
    expect(notices).to.deep.equal([]);
  });
});

describeStore('A MongoDB store whose database goes away', ({ throughProxy }) => {
  throughProxy(
    'comes back by itself after the database was silent',
    { timeout: 600 },
    async (bench) => {
      const { store, proxy } = bench;
      const added = await succeeding(() => store.pets.add(rex));
      proxy.silent = true;
      const { outcome, took } = await timed(rejection(store.pets.list({ limit: 5 })));
      expect(outcome).to.have.property('code', 'service_unavailable');
      expect(took).to.be.within(550, 600 + BUSY);
      proxy.silent = false;
      await proxy.close();
      await proxy.open();
      await untilReady(store);
      expect(await succeeding(() => store.pets.findById(added.id))).to.deep.equal(added);
    },
  );

  const once =
    'says once that it is away and once that it is back, and refuses calls at once while it knows';
  const options = { timeout: 2000, query: '&serverSelectionTimeoutMS=60000' };
  throughProxy(once, options, async ({ store, proxy, notices }) => {
    await proxy.close();
    await rejection(store.pets.list({ limit: 5 })); // waits, as an election may be going on
    await delay(options.timeout);
    for (const call of [() => store.check(), () => store.pets.list({ limit: 5 })]) {
      // A call that waited would say that no answer came in time.
      expect(await unavailable(call())).to.match(/^connect ECONNREFUSED /);
    }
    await proxy.open();
    await untilReady(store);
    // The preparation of the database may go on, and has notices of its own.
    const [away, ...others] = notices.filter((line) => / is (?:un)?reachable/.test(line));
    expect(away).to.match(/^the database is unreachable: ./);
    expect(others).to.deep.equal(['the database is reachable again']);
  });

  throughProxy(
    'serves again within three seconds of its return',
    { timeout: 600 },
    async (bench) => {
      const { store, proxy, collection } = bench;
      const isPrepared = async (): Promise<boolean> =>
        (await collection('claims').indexes()).length > 1;
      await until('the last index is made', () => isPrepared().catch(() => false));
      await delay(100);
      await proxy.close();
      await rejection(store.pets.list({ limit: 5 }));
      await delay(1000); // the driver waits for nothing any more, and looks for the database at each heartbeat
      await proxy.open();
      const { took } = await timed(untilReady(store));
      expect(took).to.be.below(3000 + BUSY);
    },
  );

  const idle = 'fails one call at most after the network has forgotten connections that were idle';
  throughProxy(
    idle,
    { timeout: 1500, query: '&maxIdleTimeMS=400' },
    async ({ store: { pets }, proxy }) => {
      await Promise.all(Array.from({ length: 10 }, () => pets.add(rex)));
      await delay(500);
      proxy.lose({ monitors: false });
      for (let left = 8; left > 0; left -= 1) await pets.add(rex);
    },
  );

  const byDefault = 'uses no connection again that was idle for half a minute, by default';
  throughProxy(byDefault, { timeout: 1500 }, async ({ store: { pets }, proxy }) => {
    await Promise.all(Array.from({ length: 10 }, () => pets.add(rex)));
    const now = performance.now.bind(performance);
    const later = mock.method(performance, 'now', () => now() + 31_000);
    try {
      proxy.lose({ monitors: false });
      for (let left = 8; left > 0; left -= 1) await pets.add(rex);
    } finally {
      later.mock.restore();
    }
  });

  const given = 'never stores an animal whose create was given up while it waited';
  throughProxy(given, {}, async ({ store: { pets }, proxy }) => {
    await proxy.close();
    await rejection(pets.add({ ...rex, name: 'given up' }, { signal: AbortSignal.timeout(100) }));
    await proxy.open();
    await pets.add(rex);
    expect((await pets.list({ limit: 5 })).map(({ name }) => name)).to.deep.equal(['Rex']);
  });

  const silent =
    'ends calls by their signals, with their reason, and soon when it closes, while nothing answers';
  throughProxy(silent, {}, async ({ store, proxy }) => {
    proxy.silent = true;
    const [controller, never] = [new AbortController(), new AbortController().signal];
    const reason = new Error('given up');
    const others = Object.values(OPERATIONS).map((call) => rejection(call(store, never)));
    const aborted = Object.entries(OPERATIONS).map(async ([name, call]) => {
      const { outcome, took } = await timed(rejection(call(store, controller.signal)));
      expect(outcome, name).to.equal(reason);
      expect(took, name).to.be.below(BUSY);
    });
    setTimeout(() => controller.abort(reason), 100);
    await Promise.all(aborted);
    const { took } = await timed(store.close());
    expect(took).to.be.below(3000 + BUSY);
    others.push(...Object.values(OPERATIONS).map((call) => rejection(call(store, never))));
    for (const error of await Promise.all(others)) {
      expect(error).to.have.property('code', 'service_unavailable');
    }
    await proxy.close();
  });
});
