import { UnavailableError } from '../../domain/errors.js';
import { MongoApiKeyRepository } from './mongo-api-key-repository.js';
import { MongoCatalogueTransfer } from './mongo-catalogue-transfer.js';
import { MongoConnection } from './mongo-connection.js';
import { MongoPetRepository } from './mongo-pet-repository.js';
import { clientFor, databaseIn, locationOf } from './mongo-url.js';

/** How a store is opened, and how patient its calls are. */
export interface MongoStoreOptions {
  /**
   * How long a call may take at most, in milliseconds: 5,000 when left out. Until then a call waits for a server
   * that is away, and repeats what was interrupted; its own signal may end it sooner. Those of `transfer` have a
   * minute, for a batch may be large.
   */
  readonly timeout?: number | undefined;
  /** The store is there already: nothing is made or changed but by what is called. */
  readonly mustExist?: boolean | undefined;
  /** Told, in one line each, what whoever runs the store should know: indexes made, documents refused. */
  readonly onNotice?: ((line: string) => void) | undefined;
}

/** The database holds no store, and none was to be made. The message is one line, with no secret in it. */
export class MissingMongoStoreError extends Error {
  /** Always this text: a class's own name is lost where code is minified. */
  override readonly name = 'MissingMongoStoreError';
}

/** An animal store in one MongoDB database. Its adapters share one client. */
export interface MongoStore {
  /** Hosts in alphabetical order and database, without user, password and options. */
  readonly location: string;
  /** The animals, in the collection `pets`. */
  readonly pets: MongoPetRepository;
  /** The managed API keys, as hashes. */
  readonly apiKeys: MongoApiKeyRepository;
  /** All of the store, to be moved. Opened when it is first asked for. */
  readonly transfer: MongoCatalogueTransfer;
  /** Closes all that was opened. The client ends with the last of them, however each was closed. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the store at `url`, a MongoDB connection string (`mongodb://` or `mongodb+srv://`); without a database in it
 * that is `animal-store`. Resolves also while no server can be reached: calls then reject with
 * `UnavailableError`, and serve as soon as one is there. Collections and indexes are made meanwhile.
 * The store reads and writes with majority concern, on the primary, whatever the URL says.
 * @throws {MongoUrlError} the URL is not such a connection string.
 * @throws {MissingMongoStoreError} with `mustExist`: the server was reached, and has no collection `pets` there.
 */
export async function openMongoStore(
  url: string,
  { timeout = 5000, mustExist = false, onNotice: tell = () => {} }: MongoStoreOptions = {},
): Promise<MongoStore> {
  const client = clientFor(url);
  const location = locationOf(client, databaseIn(url));
  const connection = new MongoConnection(client, databaseIn(url), { timeout, mustExist, tell });
  const pets = new MongoPetRepository(connection);
  const apiKeys = new MongoApiKeyRepository(connection);
  let transfer: MongoCatalogueTransfer | undefined;
  const close = async (): Promise<void> => {
    await Promise.all([pets.close(), apiKeys.close(), transfer?.close()]);
  };
  if (mustExist && !(await mayHoldStore(connection))) {
    await close();
    throw new MissingMongoStoreError(`${location} holds no animal store: name the database of one.`);
  }
  return Object.freeze({
    location,
    pets,
    apiKeys,
    get transfer() {
      return (transfer ??= new MongoCatalogueTransfer(connection));
    },
    close,
  });
}

/** `true` also where it cannot be told now: whoever uses the store is told why. */
async function mayHoldStore(connection: MongoConnection): Promise<boolean> {
  try {
    const options = { admit: () => {}, retry: false };
    return await connection.run('looking for the store', options, (signal) => connection.hasStore(signal));
  } catch (error) {
    if (error instanceof UnavailableError) return true;
    throw error;
  }
}
