import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import type { MongoMemoryReplSet } from 'mongodb-memory-server';
import type { AsyncFunc, Context } from 'mocha';
import { WatchedServer, watchedLimit } from './watched-server.js';

/** The server that the suites run against. */
export interface MongoServer {
  /** What it says it is. */
  readonly name: string;
  readonly uri: string;
  /** Whether it can be told to fail: `configureFailPoint`. */
  readonly failPoints: boolean;
  /** Another program that speaks MongoDB's protocol. */
  readonly standIn: boolean;
}

type Search =
  { readonly server: MongoServer; readonly watched?: WatchedServer } | { readonly missing: string };

let started: MongoMemoryReplSet | undefined;

/**
 * The server that `MONGODB_TEST_URI` names, else one that `MONGODB_TEST_COMMAND` starts, a new one for each
 * suite, else one of mongodb-memory-server: installed, kept from before, or (not in CI) downloaded.
 */
async function findServer(): Promise<Search> {
  const { MONGODB_TEST_URI: given, MONGODB_TEST_COMMAND: command } = process.env;
  try {
    if (given) return { server: await inspectServer(given) };
    if (command) return await startWatched(new WatchedServer(command));
    return { server: await inspectServer(await startServer()) };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return {
      missing: given
        ? `no server at MONGODB_TEST_URI: ${reason}`
        : `no MONGODB_TEST_URI, and none to start: ${reason}`,
    };
  }
}

/** It runs in the suites only: here it is asked what it is. */
async function startWatched(watched: WatchedServer): Promise<Search> {
  await watched.start();
  try {
    const { name, failPoints, standIn } = await inspectServer(watched.uri);
    const server: MongoServer = {
      name,
      failPoints,
      standIn,
      get uri() {
        return watched.uri;
      },
    };
    return { server, watched };
  } finally {
    await watched.stop();
  }
}

async function startServer(): Promise<string> {
  if (process.env['CI']) process.env['MONGOMS_RUNTIME_DOWNLOAD'] ??= 'false';
  const { MongoBinary, MongoMemoryReplSet } = await import('mongodb-memory-server');
  // It prints stacks of what the reason says well enough.
  const { warn } = console;
  console.warn = () => {};
  try {
    await MongoBinary.getPath(); // asked first: where there is none, a start leaves an empty folder behind
    started = await MongoMemoryReplSet.create({
      replSet: { count: 1, storageEngine: 'wiredTiger', args: ['--setParameter', 'enableTestCommands=1'] },
    });
    return started.getUri();
  } finally {
    console.warn = warn;
  }
}

async function inspectServer(uri: string): Promise<MongoServer> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5000 });
  try {
    const admin = client.db('admin');
    const { version, secantusVersion } = await admin.command({ buildInfo: 1 });
    const { setName, msg } = await admin.command({ hello: 1 });
    const kind = setName ? 'replica set' : msg === 'isdbgrid' ? 'sharded cluster' : 'standalone';
    const failPoints = await admin
      .command({ configureFailPoint: 'failCommand', mode: 'off' })
      .then(() => true)
      .catch(() => false);
    const product = secantusVersion
      ? `SecantusDB ${secantusVersion} (speaks as MongoDB ${version})`
      : `MongoDB ${version}`;
    return { name: `${product}, ${kind}`, uri, failPoints, standIn: secantusVersion !== undefined };
  } finally {
    await client.close();
  }
}

const search = await findServer();

after(async () => {
  await started?.stop();
});

/** A suite that needs a server. Without one it is pending and says why; with `REQUIRE_MONGODB=1` it fails. */
export function describeOnMongo(title: string, body: (server: MongoServer) => void): void {
  if ('server' in search) {
    const { server, watched } = search;
    describe(`${title} [${server.name}]`, () => {
      if (watched) before(() => watched.start());
      if (watched) beforeEach(watchTest(watched));
      body(server);
      if (watched) after(() => watched.stop());
    });
  } else if (process.env['REQUIRE_MONGODB'] === '1') {
    describe(title, () =>
      it('has a server to run against', () => {
        throw new Error(search.missing);
      }),
    );
  } else {
    describe(title, () => void it(`is not run: ${search.missing}`));
  }
}

/**
 * A suite about what MongoDB does by itself: `suite` describes it. On a server that is none it is pending, and says
 * `why`.
 */
export function unlessStandIn(title: string, why: string, suite: (title: string) => void): void {
  if ('server' in search && search.server.standIn) {
    describe(`${title} [${search.server.name}]`, () => void it(`is not run: ${why}`));
  } else suite(title);
}

/** Has the server be watched while the test runs. */
const watchTest = (watched: WatchedServer) =>
  function (this: Context): void {
    const test = this.currentTest;
    const { fn } = test ?? {};
    if (test === undefined || fn === undefined) return;
    test.timeout(watchedLimit(test.timeout()));
    test.fn = function (this: Context) {
      return watched.run(() => (fn as AsyncFunc).call(this));
    };
  };

/** The server's URI with another database, and the login of the one it names. */
export function uriOf({ uri }: MongoServer, database: string, change: { host?: string } = {}): string {
  const parts =
    /^(?<scheme>[^:]+:\/\/)(?<login>[^/?]*@)?(?<hosts>[^/?]*)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/.exec(
      uri,
    );
  const { scheme = '', login = '', hosts = '', path = '', query = '' } = parts?.groups ?? {};
  const options = new URLSearchParams(query);
  if (login !== '' && !options.has('authSource')) options.set('authSource', path || 'admin');
  if (change.host !== undefined) {
    options.delete('replicaSet');
    options.set('directConnection', 'true');
  }
  options.set('appName', 'animal-store-test');
  return `${scheme}${login}${change.host ?? hosts}/${database}?${options.toString()}`;
}

/** Where the server listens. */
export function addressOf({ uri }: MongoServer): { host: string; port: number } {
  const [, host = '', port = '27017'] = /^[^:]+:\/\/(?:[^/?]*@)?([^/?,:]*)(?::(\d+))?/.exec(uri) ?? [];
  return { host, port: Number(port) };
}

export const newDatabaseName = (): string => `animals-${randomUUID()}`;

/** Uses a client of its own on a database; closed afterwards. */
export async function withDatabase<Result>(
  server: MongoServer,
  database: string,
  use: (client: MongoClient) => Promise<Result>,
): Promise<Result> {
  const client = new MongoClient(uriOf(server, database), { useBigInt64: true });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

export const dropDatabase = (server: MongoServer, database: string): Promise<boolean> =>
  withDatabase(server, database, (client) => client.db().dropDatabase());
