import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { Mongod } from './mongod.js';

/** The server that the suites of a process share. Known while tests run, not while they are declared. */
export interface MongoServer {
  readonly uri: string;
}

/** The program to start: one that mongodb-memory-server is told of, finds in its cache or downloads; or why none is. */
async function findBinary(): Promise<{ readonly binary?: string; readonly missing?: string }> {
  process.env['MONGOMS_SYSTEM_BINARY_VERSION_CHECK'] ??= 'false';
  const { MongoBinary } = await import('mongodb-memory-server');
  // It prints stacks of what the reason says well enough.
  const { warn } = console;
  console.warn = () => {};
  try {
    return { binary: await MongoBinary.getPath() };
  } catch (error) {
    return { missing: `no mongod: ${String(error).split('\n', 1).join()}` };
  } finally {
    console.warn = warn;
  }
}

const { binary = '', missing } = await findBinary();

/** Without a server to start the suite is pending and says why; with `REQUIRE_MONGODB=1` it fails. */
function describeWithBinary(title: string, body: () => void): void {
  describe(`${title} [MongoDB]`, () => {
    if (missing === undefined) body();
    else if (process.env['REQUIRE_MONGODB'] !== '1') it(`is not run: ${missing}`);
    else
      it('has a server', () => {
        throw new Error(missing);
      });
  });
}

let shared: Promise<Mongod> | undefined;

/** A suite on a replica set of one member, which all files of a process share: mocha --parallel runs many in one. */
export function describeOnMongo(title: string, body: (server: MongoServer) => void): void {
  describeWithBinary(title, () => {
    let uri = '';
    before(async () => {
      shared ??= Mongod.create(binary).then((server) => server.start());
      uri = (await shared).uri('admin');
    });
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
  describeWithBinary(title, () => {
    const servers: Mongod[] = [];
    body(async (options) => {
      const server = await Mongod.create(binary, options);
      servers.push(server);
      return server;
    }, binary);
    // After the hooks of the body, which close their clients.
    after(() => Promise.all(servers.splice(0).map((server) => server.remove())));
  });
}

/** The server's URI with another database. */
export const uriOf = ({ uri }: MongoServer, database: string): string =>
  uri.replace('/admin?', `/${database}?`);

export const newDatabaseName = () => `animals-${randomUUID()}`;

/** Does `work` with a client for what tests do to databases beside the store. */
export async function withClient<Result>(
  { uri }: MongoServer,
  work: (client: MongoClient) => Promise<Result>,
): Promise<Result> {
  const client = new MongoClient(uri, { useBigInt64: true });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

export async function dropDatabase(server: MongoServer, database: string): Promise<void> {
  await withClient(server, (client) => client.db(database).dropDatabase());
}

/** Runs a test with a database of its own. */
export const inDatabase =
  (server: MongoServer, test: (database: string) => Promise<void>) => async () => {
    const database = newDatabaseName();
    try {
      await test(database);
    } finally {
      await dropDatabase(server, database);
    }
  };
