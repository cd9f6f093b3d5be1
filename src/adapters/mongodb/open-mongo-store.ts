import { MongoClient, type Db } from 'mongodb';
import { openModeOf, type CompleteStore, type OpenOptions } from '../../application/ports/store.js';
import { mongoApiKeys } from './mongo-api-keys.js';
import { READ_OPTIONS, mongoConnection } from './mongo-connection.js';
import { MongoStoreError } from './mongo-errors.js';
import { mongoPetChanges } from './mongo-pet-changes.js';
import { mongoPets } from './mongo-pets.js';
import { mongoTransfer } from './mongo-transfer.js';
import { petIds } from './pet-ids.js';
import { checkCollections } from './prepare-database.js';
import { sharedLookup } from './shared-lookup.js';
import { startSweeping } from './sweep.js';

/** Timeouts of a check, and of the first read at opening, in milliseconds. */
const CHECK_LIMIT = 1000;
const OPEN_LIMIT = 2500;

/** A URL that names a database. For any other, the driver's `dbName` is `test`. */
const WITH_DATABASE = /^[^/]+\/\/[^/?]*\/[^?]/;

/**
 * Opens the store at `url`, a MongoDB connection string. Default database: `animal-store`. Also resolves while no
 * server can be reached: calls then reject with `UnavailableError` until one is.
 * @throws {MongoStoreError} the URL is not valid, the database cannot hold a store, or it holds none and one must exist
 */
export async function openMongoStore(
  url: string,
  options: OpenOptions = {},
): Promise<CompleteStore> {
  const mode = openModeOf(options);
  const client = clientOf(url);
  const { hosts, srvHost, dbName } = client.options;
  const databaseName = WITH_DATABASE.test(url) ? dbName : 'animal-store';
  const servers = srvHost ? `mongodb+srv://${srvHost}` : `mongodb://${hosts.join()}`;
  const connection = mongoConnection(client, databaseName, mode);
  const { database, read } = connection;

  const requireExisting = async () => {
    if ((await checkCollections(database)) || mode === 'create') return;
    throw new MongoStoreError(`The database ${databaseName} holds no animal store.`);
  };
  try {
    await read('looking for the store', undefined, requireExisting, OPEN_LIMIT);
  } catch (error) {
    const { cause } = error as Error;
    // The cause of an UnavailableError. An unreachable database is no fault here: its calls reject.
    if (cause instanceof MongoStoreError) {
      await connection.close();
      throw cause;
    }
  }

  const sweeping = mode === 'create' ? startSweeping(connection) : undefined;
  const close = (): Promise<void> => {
    clearInterval(sweeping);
    return connection.close();
  };
  const ids = petIds(database);
  return {
    pets: mongoPets(connection, ids),
    changes: mongoPetChanges(connection),
    apiKeys: mongoApiKeys(connection),
    transfer: mongoTransfer(connection, ids),
    location: `${servers}/${databaseName}`,
    check: (call) => read('checking the store', call, () => requirePrimary(database), CHECK_LIMIT),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** With `directConnection` in the URL, a secondary answers reads. */
async function requirePrimary(database: Db): Promise<void> {
  await database.collection('pets').findOne({}, READ_OPTIONS);
  const { isWritablePrimary } = await database.command({ hello: 1 });
  if (!isWritablePrimary) throw new MongoStoreError('The server is not the primary.');
}

/** A client that connects when it is first used. Its limits are in milliseconds. */
function clientOf(url: string): MongoClient {
  try {
    return new MongoClient(url, {
      connectTimeoutMS: 1500,
      heartbeatFrequencyMS: 2000,
      serverSelectionTimeoutMS: 2000,
      socketTimeoutMS: 2000,
      waitQueueTimeoutMS: 2000,
      lookup: sharedLookup(),
      readPreference: 'primary',
      // With `useBigInt64`, streaming heartbeats can crash the process during an election.
      serverMonitoringMode: 'poll',
      useBigInt64: true,
      ignoreUndefined: true,
    });
  } catch {
    // The driver's message may quote the password.
    throw new MongoStoreError(
      'The URL is not a MongoDB connection string (https://www.mongodb.com/docs/manual/reference/connection-string).',
    );
  }
}
