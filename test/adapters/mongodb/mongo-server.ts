import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { ConnectionString } from 'mongodb-connection-string-url';
import { Mongod } from './mongod.js';

/** The server that the suites share. */
export interface MongoServer {
  /** Known while tests run, not while they are declared. */
  readonly uri: string;
}

/** A server that is given, the program of one that can be started, or why there is none. */
interface Search {
  readonly uri?: string | undefined;
  readonly binary?: string;
  readonly missing?: string;
}

/** `MONGODB_TEST_URI`, else a mongod that mongodb-memory-server has, finds in its cache or downloads. */
async function findServer(): Promise<Search> {
  const { env } = process;
  const uri = env['MONGODB_TEST_URI'] || undefined;
  env['MONGOMS_SYSTEM_BINARY_VERSION_CHECK'] ??= 'false';
  if (uri !== undefined || env['CI']) env['MONGOMS_RUNTIME_DOWNLOAD'] ??= 'false';
  const { MongoBinary } = await import('mongodb-memory-server');
  // It prints stacks of what the reason says well enough.
  const { warn } = console;
  console.warn = () => {};
  try {
    return { uri, binary: await MongoBinary.getPath() };
  } catch (error) {
    const [reason] = String(error).split('\n', 1);
    return { uri, missing: `no mongod: ${reason}` };
  } finally {
    console.warn = warn;
  }
}

const search = await findServer();

/**
 * A suite that needs a server to run against, or one to start. Without it the suite is pending and says why; with
 * `REQUIRE_MONGODB=1` it fails.
 */
function describeWith(needed: unknown, title: string, body: () => void): void {
  describe(`${title} [MongoDB]`, () => {
    if (needed !== undefined) body();
    else if (process.env['REQUIRE_MONGODB'] !== '1') it(`is not run: ${search.missing}`);
    else
      it('has a server', () => {
        throw new Error(search.missing);
      });
  });
}

let shared: Promise<Mongod> | undefined;
let client: MongoClient | undefined;

async function tidyUp(): Promise<void> {
  for (const database of emptied.splice(0)) await client?.db(database).dropDatabase();
  await client?.close();
  client = undefined;
}

/**
 * A suite on the server that all files of a process share: a replica set of one member, unless `MONGODB_TEST_URI` names
 * another. The server ends with the process; mocha --parallel runs many files in one.
 */
export function describeOnMongo(title: string, body: (server: MongoServer) => void): void {
  const { uri: given, binary } = search;
  after(tidyUp);
  describeWith(given ?? binary, title, () => {
    let uri = given ?? '';
    if (given === undefined && binary !== undefined) {
      before(async () => {
        shared ??= Mongod.create(binary, { replicaSet: true }).then((server) => server.start());
        uri = (await shared).uri('admin');
      });
    }
    body({
      get uri() {
        return uri;
      },
    });
  });
}

/** A suite that starts and kills its own servers. They are removed after it. */
export function describeOnOwnServers(
  title: string,
  body: (create: (options?: { replicaSet: boolean }) => Promise<Mongod>, binary: string) => void,
): void {
  const { binary } = search;
  describeWith(binary, title, () => {
    const servers: Mongod[] = [];
    const create = async (options = { replicaSet: true }): Promise<Mongod> => {
      const server = await Mongod.create(binary ?? '', options);
      servers.push(server);
      return server;
    };
    body(create, binary ?? '');
    // After the hooks of the body, which close their clients.
    after(() => Promise.all(servers.splice(0).map((server) => server.remove())));
  });
}

/**
 * The server's URI with another database, keeping the login of the one it names.
 * @param host where the server is reached, such as a proxy
 */
export function uriOf({ uri }: MongoServer, database: string, host?: string): string {
  const url = new ConnectionString(uri);
  const options = url.searchParams;
  if (url.username !== '' && !options.has('authSource')) {
    options.set('authSource', url.pathname.slice(1) || 'admin');
  }
  if (host !== undefined) {
    url.hosts = [host];
    options.delete('replicaSet');
    options.set('directConnection', 'true');
  }
  options.set('appName', database);
  url.pathname = `/${database}`;
  return url.href;
}

/** Where the server listens. */
export function addressOf({ uri }: MongoServer): { host: string; port: number } {
  const [first = ''] = new ConnectionString(uri).hosts;
  const [host = '', port = '27017'] = first.split(':');
  return { host, port: Number(port) };
}

export const newDatabaseName = (): string => `animals-${randomUUID()}`;

export const dropDatabase = (server: MongoServer, database: string): Promise<boolean> =>
  clientOf(server).db(database).dropDatabase();

/** Databases whose collections are empty: to make new ones costs the server more than to empty them. */
const emptied: string[] = [];

/** Runs a test with an empty database. Its collections may exist. */
export const inDatabase =
  (server: MongoServer, test: (database: string) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const database = takeDatabase();
    try {
      await test(database);
    } finally {
      await returnDatabase(server, database);
    }
  };

export const takeDatabase = (): string => emptied.pop() ?? newDatabaseName();

export async function returnDatabase(server: MongoServer, database: string): Promise<void> {
  const db = clientOf(server).db(database);
  await Promise.all(
    ['pets', 'claims', 'apiKeys', 'counters'].map((name) => db.collection(name).deleteMany({})),
  );
  emptied.push(database);
}

/** A client for what tests do to databases beside the store. */
export function clientOf(server: MongoServer): MongoClient {
  client ??= new MongoClient(uriOf(server, 'admin'), { useBigInt64: true });
  return client;
}
