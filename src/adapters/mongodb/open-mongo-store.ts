import { requireInteger } from '../../application/option-rules.js';
import { requireOpenMode, type CompleteStore } from '../../application/ports/store.js';
import { mongoApiKeys } from './mongo-api-key-repository.js';
import { mongoTransfer } from './mongo-catalogue-transfer.js';
import { mongoConnection, type MongoStoreOptions } from './mongo-connection.js';
import { mongoChanges } from './mongo-pet-changes.js';
import { mongoPets } from './mongo-pet-repository.js';
import { mongoUrlFault, readUrl } from './mongo-url.js';
import { petInserts } from './pet-inserts.js';

/** The URL is invalid, or leads to no store where one must exist. The message is one line without secrets. */
export class MongoStoreError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'MongoStoreError';
  /** Only a person can mend it. */
  readonly isLasting = true;
}

/**
 * Opens the store at `url`, a MongoDB connection string (`mongodb://` or `mongodb+srv://`). Default database:
 * `animal-store`. Also resolves while no server can be reached: calls then reject with `UnavailableError` until one is.
 * Missing collections and indexes are created in the background. Whatever the URL says, the store writes and reads
 * with majority concern, on the primary.
 * @throws {TypeError} the mode does not exist, or `timeout` is not valid.
 * @throws {MongoStoreError} the URL is not such a connection string; or, unless `mode` is `create`, the server was
 * reached, and the database has no collection `pets`.
 */
export async function openMongoStore(
  url: string,
  options: MongoStoreOptions = {},
): Promise<CompleteStore> {
  const { mode = 'create', onNotice } = options;
  requireOpenMode(mode);
  const timeout = requireInteger('timeout', Math.ceil(options.timeout ?? 5000), 1);
  const fault = await mongoUrlFault(url);
  if (fault !== undefined) throw new MongoStoreError(`The URL ${fault}.`);
  const { client, database } = readUrl(url);
  const { hosts, srvHost } = client.options;
  const servers = srvHost
    ? `mongodb+srv://${srvHost}`
    : `mongodb://${hosts.map(String).sort().join(',')}`;
  const location = `${servers}/${database}`;
  const connection = mongoConnection(client, database, { mode, timeout, onNotice });
  if (mode !== 'create' && !(await connection.mayHoldStore())) {
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
    check: connection.check,
    close: connection.close,
    [Symbol.asyncDispose](this: CompleteStore) {
      return this.close();
    },
  };
}
