import { expect } from 'chai';
import { times } from '../../contract/samples.js';
import { MongoNetworkError, type MongoClient } from 'mongodb';
import { execFile } from 'node:child_process';
import dns from 'node:dns';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openMongoStore, type MongoStoreOptions } from '../../../src/adapters/mongodb/index.js';
import { mongoConnection } from '../../../src/adapters/mongodb/mongo-connection.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { until } from '../../until.js';
import { MongoProxy } from './mongo-proxy.js';
import {
  addressOf,
  clientOf,
  describeOnMongo,
  dropDatabase,
  newDatabaseName,
  uriOf,
} from './mongo-server.js';
import {
  claimOn,
  describeStore,
  expectListed,
  openNoting,
  rejection,
  rex,
  succeeding,
  unavailable,
  untilPrepared,
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

/** Why a list is not served. One that waited would say that no answer came in time. */
const whyNot = ({ pets }: CompleteStore): Promise<string> => unavailable(pets.list({ limit: 5 }));

/** Waits until a list has failed. */
const failing = ({ pets }: CompleteStore): Promise<unknown> => rejection(pets.list({ limit: 5 }));

/** A connection whose client only says what the test has it say of its servers. */
function connectionOf({ timeout = 5000, onNotice }: MongoStoreOptions) {
  const client = new EventEmitter();
  Object.assign(client, { db: () => ({}), connect: () => new Promise(() => {}) });
  const connection = mongoConnection(client as MongoClient, 'db', {
    timeout,
    mode: 'read',
    onNotice,
  });
  const say = (type: string, member: object): void => {
    const newDescription = { type, servers: new Map([['a:1', member]]) };
    client.emit('topologyDescriptionChanged', { newDescription });
  };
  return { connection, say };
}

describe('A MongoDB store that hears again and again that its database is unreachable', () => {
  it('refuses calls at once from its timeout after the first time', async () => {
    const { connection, say } = connectionOf({ timeout: 200 });
    say('Unknown', { error: new MongoNetworkError('refused') });
    await delay(200);
    say('Unknown', { error: new MongoNetworkError('silent') });

    const reason = await unavailable(connection.run('trying', {}, async () => {}));

    // A call that waited would say that no answer came in time.
    expect(reason).to.equal('silent');
  });
});

describe('A MongoDB store whose replica set has no primary', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const secondary = { type: 'RSSecondary' };
  const primary = { type: 'RSPrimary', isWritable: true };

  it('says so once after three seconds, and when there is one again, but says nothing of a short election', () => {
    const notices: string[] = [];
    const { say } = connectionOf({ onNotice: (line) => notices.push(line) });
    say('ReplicaSetNoPrimary', secondary);
    mock.timers.tick(2999);
    say('ReplicaSetWithPrimary', primary);
    mock.timers.tick(3000);
    const ofShort = notices.splice(0);

    const counts = [2999, 1, 60_000].map((wait) => {
      say('ReplicaSetNoPrimary', secondary);
      mock.timers.tick(wait);
      return notices.length;
    });
    say('ReplicaSetWithPrimary', primary);

    expect(ofShort, 'of the short election').to.deep.equal([]);
    expect(counts, 'notices after 2.999 s, 3 s and later').to.deep.equal([0, 1, 1]);
    expect(notices, 'of the long one').to.deep.equal([
      'the database is unreachable: no primary was found in the replica set',
      'the database is reachable again',
    ]);
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

const MISSING = {
  'compressors=snappy': /Optional module `snappy` not found/,
  'loadBalanced=true': /does not support|load balanc/,
  'authMechanism=MONGODB-AWS': /credential-providers/,
};

describeOnMongo('A MongoDB store whose database is unreachable', (server) => {
  let proxy: MongoProxy;
  let database: string;
  let uri: string;
  beforeEach(async () => {
    database = newDatabaseName();
    proxy = await new MongoProxy(server).open();
    uri = uriOf(server, database, proxy.host);
  });
  afterEach(async () => {
    await proxy.close();
    await dropDatabase(server, database);
  });

  // A store that may be new is tested through the whole service.
  it('opens also if it must exist, says why it is unavailable, and serves once the database is there', async () => {
    await proxy.close();
    const store = await openMongoStore(uri, { timeout: 2000, mode: 'existing' });

    const reason = await unavailable(store.check());
    await proxy.open();
    await untilReady(store);
    await store.close();

    expect(reason).to.match(/^connect ECONNREFUSED /);
  });

  it('is not said to be unreachable because one member is', async function () {
    const { setName } = await clientOf(server).db('admin').command({ hello: 1 });
    if (setName === undefined) this.skip();
    const { host } = addressOf(server);
    const url = uriOf(server, database)
      .replace(host, `127.0.0.1:1,${host}`)
      .replace('directConnection=true', `replicaSet=${setName}`);
    const { store, notices } = await openNoting(url, { timeout: 20_000 });

    await store.pets.add(rex);
    await store.close();

    const said = notices.filter((line) => / is (?:un)?reachable/.test(line));
    expect(said).to.deep.equal([]);
  });

  for (const [options, wanted] of Object.entries(MISSING)) {
    it(`says within five seconds why ${options} does not work`, async () => {
      const anyMember = /directConnection=[^&]*&?|replicaSet=[^&]*&?/g;
      const url = uriOf(server, database).replace(anyMember, '');
      const { store, notices } = await openNoting(`${url}&${options}`, { timeout: 1000 });

      const isSaid = async () => notices.some((line) => wanted.test(line));
      await until('it says why', isSaid, 5000 + BUSY);
      const reason = await unavailable(store.check());
      await store.close();

      expect(reason).to.match(wanted);
    }).timeout(30_000);
  }

  for (const options of ['minPoolSize=60', 'MINPOOLSIZE=60&appname=x'])
    it(`serves with ${options}, above its own default maximum`, async () => {
      const url = `${uri}&${options}`.replace(/appName=[^&]*/, '');
      await using store = await openMongoStore(url);

      await untilReady(store);
    });

  it('refuses calls at once after five seconds, also while the name of the cluster is unknown', async () => {
    const timeout = 200;
    const url = 'mongodb+srv://cluster.example.invalid/db';
    const refused = new Error('querySrv ENOTFOUND _mongodb._tcp.cluster.example.invalid');
    const unknown = Object.assign(refused, { code: 'ENOTFOUND', syscall: 'querySrv' });
    // The resolver of a network would take a time of its own. This one hangs later.
    const lookup = mock.method(dns.promises, 'resolve', (): Promise<never> =>
      Promise.reject(unknown),
    );
    const { store, notices } = await openNoting(url, { timeout });
    await until('it is said', () => notices.length > 0);
    lookup.mock.mockImplementation(() => new Promise<never>(() => {}));
    await delay(timeout);

    const reason = await whyNot(store);
    // The first call of a copy: a mistyped URL must not cost a minute.
    const reasonOfCopy = await unavailable(store.transfer.survey());
    await store.close();
    lookup.mock.restore();

    expect(reason).to.match(/querySrv/);
    expect(reasonOfCopy).to.match(/querySrv/);
    const said = notices.filter((line) =>
      line.startsWith('the database is unreachable: querySrv '),
    );
    expect(said).to.have.length(1);
  });

  it('closes soon although the URL lets it connect for a minute, and makes nothing afterwards', async () => {
    const isConnecting = Promise.withResolvers<void>();
    const isReleased = Promise.withResolvers<void>();
    proxy.onMessage = () => {
      isConnecting.resolve();
      return isReleased.promise;
    };
    const patient = `${uri}&serverSelectionTimeoutMS=60000&connectTimeoutMS=60000`;
    const { store, notices } = await openNoting(patient, { timeout: 60_000 });
    const adding = rejection(store.pets.add(rex));
    await isConnecting.promise;

    const { took } = await timed(store.close());
    const error = await adding;
    isReleased.resolve();
    await delay(200);

    expect(took, 'milliseconds to close').to.be.below(2000 + BUSY);
    expect(error).to.have.property('code', 'service_unavailable');
    const made = await clientOf(server).db(database).listCollections().toArray();
    expect(made, 'collections').to.deep.equal([]);
    expect(notices, 'notices').to.deep.equal([]);
  });
});

/** Makes one call of each port, and an add with a claim. Each must be rejected. */
const callAll = ({ pets, apiKeys, transfer }: CompleteStore, signal?: AbortSignal) =>
  [
    pets.addOnce(rex, claimOn('t'), Date.now(), { signal }),
    pets.list({ limit: 20 }, { signal }),
    apiKeys.revoke('k', Date.now(), { signal }),
    transfer.writePets([{ ...rex, id: 1n }], { signal }),
  ].map((call: Promise<unknown>) => rejection(call));

describeStore('A MongoDB store whose database becomes unreachable', ({ throughProxy }) => {
  // A slow server is not unreachable: the driver waits for its greeting.
  const options = {
    timeout: 2000,
    query: '&serverSelectionTimeoutMS=60000&connectTimeoutMS=20000',
  };
  throughProxy(
    'says once that it is unreachable and once that it is reachable again, and refuses calls at once meanwhile',
    options,
    async ({ store, proxy, notices }) => {
      await proxy.close();
      await failing(store); // waits, as an election may be in progress
      await delay(options.timeout);

      const reasons = [await unavailable(store.check()), await whyNot(store)];
      await proxy.open();
      await untilReady(store);

      for (const reason of reasons) expect(reason).to.match(/^connect ECONNREFUSED /);
      // The preparation of the database may go on, and has notices of its own.
      const [unreachable, ...others] = notices.filter((line) => / is (?:un)?reachable/.test(line));
      expect(unreachable).to.match(/^the database is unreachable: ./);
      expect(others).to.deep.equal(['the database is reachable again']);
    },
  );

  throughProxy(
    'fails a call at its timeout while the database is silent, and serves within three seconds of its return',
    { timeout: 600 },
    async ({ store, proxy }) => {
      const added = await succeeding(() => store.pets.add(rex));
      proxy.silent = true;

      const { outcome, took } = await timed(failing(store));
      await proxy.close();
      await delay(1000); // the driver waits for nothing any more, and looks for the database at each heartbeat
      proxy.silent = false;
      await proxy.open();
      const returned = await timed(untilReady(store));
      const found = await succeeding(() => store.pets.findById(added.id));

      expect(outcome).to.have.property('code', 'service_unavailable');
      expect(took, 'milliseconds until the list failed').to.be.within(550, 600 + BUSY);
      expect(returned.took, 'milliseconds until it is ready').to.be.below(3000 + BUSY);
      expect(found).to.deep.equal(added);
    },
  );

  throughProxy(
    'uses no connection again that was idle for half a minute',
    { timeout: 5000 },
    async ({ store, proxy }) => {
      const { pets } = store;
      await Promise.all(times(10, () => pets.add(rex))); // opens ten connections
      await untilPrepared(proxy); // no connection is in use
      const now = performance.now.bind(performance);
      const later = mock.method(performance, 'now', () => now() + 31_000);
      try {
        proxy.lose({ monitors: false });

        for (let left = 8; left > 0; left -= 1) await store.pets.add(rex);
      } finally {
        later.mock.restore();
      }
    },
  );

  throughProxy(
    'never stores an animal whose create was given up while it waited',
    {},
    async ({ store: { pets }, proxy }) => {
      await proxy.close();
      const signal = AbortSignal.timeout(100);
      await rejection(pets.add({ ...rex, name: 'given up' }, { signal }));
      await proxy.open();

      const added = await pets.add(rex);

      await expectListed(pets, [added]);
    },
  );

  throughProxy(
    'ends calls by their signals, with their reason, while nothing answers',
    {},
    async ({ store, proxy }) => {
      proxy.silent = true;
      const controller = new AbortController();
      const reason = new Error('given up');
      const calls = Promise.all(callAll(store, controller.signal));
      await delay(100);

      controller.abort(reason);
      const { outcome, took } = await timed(calls);

      for (const error of outcome) expect(error).to.equal(reason);
      expect(took, 'milliseconds until all calls ended').to.be.below(BUSY);
    },
  );

  throughProxy(
    'closes soon while nothing answers, and ends the calls before and after that',
    {},
    async ({ store, proxy }) => {
      proxy.silent = true;
      const before = callAll(store);

      const { took } = await timed(store.close());
      const errors = await Promise.all([...before, ...callAll(store)]);

      expect(took, 'milliseconds to close').to.be.below(3000 + BUSY);
      for (const error of errors) expect(error).to.have.property('code', 'service_unavailable');
      await proxy.close();
    },
  );
});
