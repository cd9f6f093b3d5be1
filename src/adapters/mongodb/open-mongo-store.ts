import { MongoClient, type MongoClientOptions } from 'mongodb';
import type { CompleteStore } from '../../application/ports/store.js';
import { isError } from '../../domain/errors.js';
import { mongoApiKeys } from './mongo-api-key-repository.js';
import { mongoTransfer } from './mongo-catalogue-transfer.js';
import { MongoConnection, type MongoStoreOptions } from './mongo-connection.js';
import { mongoChanges } from './mongo-pet-changes.js';
import { mongoPets } from './mongo-pet-repository.js';
import { memberLookup } from './name-lookup.js';
import { petInserts } from './pet-inserts.js';

/** The URL is invalid, or leads to no store where one must exist. The message is one line without secrets. */
export class MongoStoreError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'MongoStoreError';
}

/**
 * Opens the store at `url`, a MongoDB connection string (`mongodb://` or `mongodb+srv://`). Default database:
 * `animal-store`. Also resolves while no server can be reached: calls then reject with `UnavailableError` until one is.
 * Missing collections and indexes are created in the background. Whatever the URL says, the store writes and reads
 * with majority concern, on the primary.
 * @throws {MongoStoreError} the URL is not such a connection string; or, with `mustExist` or `readOnly`, the server was
 * reached, and the database has no collection `pets`.
 */
export async function openMongoStore(
  url: string,
  options: MongoStoreOptions = {},
): Promise<CompleteStore> {
  const fault = mongoUrlFault(url);
  if (fault !== undefined) throw new MongoStoreError(`The URL ${fault}.`);
  const { client, database } = readUrl(url);
  const { hosts, srvHost } = client.options;
  const servers = srvHost
    ? `mongodb+srv://${srvHost}`
    : `mongodb://${hosts.map(String).sort().join(',')}`;
  const location = `${servers}/${database}`;
  const connection = new MongoConnection(client, database, options);
  if ((options.mustExist || options.readOnly) && !(await connection.mayHoldStore())) {
    await connection.close();
    throw new MongoStoreError(`${location} holds no animal store: name the database of one.`);
  }
  const inserts = petInserts(connection);
  return {
    pets: mongoPets(connection, inserts),
    apiKeys: mongoApiKeys(connection),
    transfer: mongoTransfer(connection, inserts),
    changes: mongoChanges(connection),
    location,
    close: () => connection.close(),
    [Symbol.asyncDispose](this: CompleteStore) {
      return this.close();
    },
  };
}

/**
 * Used where the URL does not say otherwise. In milliseconds, short enough to answer a request in time. A connection that
 * was idle for longer than `maxIdleTimeMS` is not used again: a network on the way may have forgotten it.
 */
const DEFAULTS = {
  appName: 'animal-store',
  connectTimeoutMS: 1000,
  heartbeatFrequencyMS: 2000,
  maxIdleTimeMS: 30_000,
  maxPoolSize: 50,
  serverSelectionTimeoutMS: 1500,
  waitQueueTimeoutMS: 1500,
} as const satisfies MongoClientOptions;

/**
 * Used whatever the URL says. Streaming, the driver's other way to monitor servers, can end the process during an
 * election: with `useBigInt64` it cannot send back the version of the topology that an error of the server brought.
 */
const FIXED = {
  ignoreUndefined: true,
  promoteLongs: true,
  promoteValues: true,
  raw: false,
  readPreference: 'primary',
  serverMonitoringMode: 'poll',
  useBigInt64: true,
} as const satisfies MongoClientOptions;

/** The parts of a URL that the driver does not tell: the name of the database, and the names of options. */
function readParts(url: string): {
  readonly database: string;
  readonly options: readonly string[];
} {
  const [, database = '', query = ''] = /^[^/]*:\/\/[^/?]*\/?([^?]*)\??(.*)$/s.exec(url) ?? [];
  return {
    database,
    options: [...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()),
  };
}

/** A client that connects when it is first used, and the name of the database. */
function readUrl(url: string): { readonly client: MongoClient; readonly database: string } {
  const { database, options } = readParts(url);
  const defaults = Object.entries(DEFAULTS).filter(
    ([name]) => !options.includes(name.toLowerCase()),
  );
  const client = new MongoClient(url, {
    ...Object.fromEntries(defaults),
    ...FIXED,
    lookup: memberLookup(),
  });
  return { client, database: database === '' ? 'animal-store' : decodeURIComponent(database) };
}

/** MongoDB's own databases, and what no database can be called. */
const UNUSABLE = /^(?:admin|config|local)$|[/\\. "$*<>:|?\0]/;

/**
 * Returns what is wrong with a URL, as the end of a sentence that begins with its name, or `undefined`. Without secrets.
 * Connects to nothing.
 */
export function mongoUrlFault(url: string): string | undefined {
  try {
    const { database } = readUrl(url);
    return UNUSABLE.test(database) || Buffer.byteLength(database) > 63
      ? 'names a database that cannot hold a store: use 1 to 63 bytes without / \\ . " $ * < > : | ? and space, ' +
          'and not admin, config or local'
      : undefined;
  } catch (error) {
    // The driver's messages quote the URL with its password, so only the names of options are passed on.
    const words = isError(error) ? error.message.toLowerCase().split(/\W+/) : [];
    const named = readParts(url).options.filter(
      (option) => option !== '' && words.includes(option),
    );
    return named.length === 0
      ? 'is not a MongoDB connection string such as mongodb://user:password@host:27017/database?option=value; ' +
          'percent-encode : / ? # [ ] @ and % in user and password'
      : `has options that the driver refuses: ${named.join(', ')}`;
  }
}
