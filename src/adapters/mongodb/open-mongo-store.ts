import type { Db } from 'mongodb';
import type { CompleteStore, OpenMode, OpenOptions } from '../../application/ports/store.js';
import { openModeOf } from '../../application/store-rules.js';
import { UnavailableError } from '../../domain/errors.js';
import { checkCollections } from './collections.js';
import { mongoApiKeys } from './mongo-api-keys.js';
import { READ_OPTIONS, mongoDatabase } from './mongo-client.js';
import { mongoConnection, type MongoConnection } from './mongo-connection.js';
import { MongoStoreError } from './mongo-errors.js';
import { mongoPetChanges } from './mongo-pet-changes.js';
import { mongoPets } from './mongo-pets.js';
import { mongoTransfer } from './mongo-transfer.js';
import { petIds } from './pet-ids.js';
import { startSweeping } from './sweep.js';

/** How long a check may take, in milliseconds. Shorter than the server's timeout: it must be quick. */
const CHECK_TIMEOUT = 1000;

/** How long the first read may take at opening, in milliseconds. */
const OPEN_TIMEOUT = 2500;

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
  const database = mongoDatabase(url);
  const connection = mongoConnection(database, mode);
  await requireUsable(connection, mode).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });

  const sweeping = mode === 'read' ? undefined : startSweeping(connection);
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
    location: locationOf(database),
    check: (callOptions) =>
      connection.read(
        'checking the store',
        callOptions,
        () => requirePrimary(database),
        CHECK_TIMEOUT,
      ),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** @throws {MongoStoreError} the database cannot hold a store, or holds none and one must exist */
async function requireUsable({ database, read }: MongoConnection, mode: OpenMode): Promise<void> {
  const check = () => checkCollections(database, mode);
  await read('looking for the store', undefined, check, OPEN_TIMEOUT).catch((error: unknown) => {
    // An unusable database fails the opening, an unreachable one does not.
    const reason = error instanceof UnavailableError ? error.cause : error;
    if (reason === error || reason instanceof MongoStoreError) throw reason;
  });
}

function locationOf({ client, databaseName }: Db): string {
  const { hosts, srvHost } = client.options;
  const servers = srvHost ? `mongodb+srv://${srvHost}` : `mongodb://${hosts.join()}`;
  return `${servers}/${databaseName}`;
}

/** Rejects unless the primary answers: with `directConnection` in the URL, a secondary would. */
async function requirePrimary(database: Db): Promise<void> {
  await database.collection('pets').findOne({}, READ_OPTIONS);
  const { isWritablePrimary } = await database.command({ hello: 1 });
  if (isWritablePrimary) return;
  const cause = new Error('the server is not the primary');
  throw new UnavailableError('checking the store', { cause });
}
