import { MongoApiKeyRepository } from './mongo-api-key-repository.js';
import { MongoConnection } from './mongo-connection.js';
import { MongoDeprecatedCallRepository } from './mongo-deprecated-call-repository.js';
import { MongoPetRepository } from './mongo-pet-repository.js';
import { clientFor, databaseIn, locationOf } from './mongo-url.js';

export interface MongoStoreOptions {
  /**
   * How long a call may take at most, in milliseconds: 5,000 when left out. Until then a call waits for a server
   * that is away, and repeats what was interrupted; its own signal may end it sooner.
   */
  readonly timeout?: number | undefined;
  /** Told, in one line each, what whoever runs the store should know: indexes made, documents refused. */
  readonly tell?: ((line: string) => void) | undefined;
}

/** An animal store in one MongoDB database. Its repositories share one client. */
export interface MongoStore {
  /** Hosts and database, without user, password and options. */
  readonly location: string;
  readonly pets: MongoPetRepository;
  readonly apiKeys: MongoApiKeyRepository;
  readonly deprecatedCalls: MongoDeprecatedCallRepository;
  /** Closes the repositories. The client ends with the last of them, however each was closed. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the store at `url`, a MongoDB connection string (`mongodb://` or `mongodb+srv://`); without a database in it
 * that is `animal-store`. Resolves also while no server can be reached: calls then reject with
 * `StoreUnavailableError`, and serve as soon as one is there. Collections and indexes are made meanwhile.
 * The store reads and writes with majority concern, on the primary, whatever the URL says.
 * @throws {MongoUrlError} the URL is not such a connection string.
 */
export async function openMongoStore(
  url: string,
  { timeout = 5000, tell = () => {} }: MongoStoreOptions = {},
): Promise<MongoStore> {
  const client = clientFor(url);
  const connection = new MongoConnection(client, databaseIn(url), { timeout, tell });
  const pets = new MongoPetRepository(connection);
  const apiKeys = new MongoApiKeyRepository(connection);
  const deprecatedCalls = new MongoDeprecatedCallRepository(connection);
  return Object.freeze({
    location: locationOf(client, databaseIn(url)),
    pets,
    apiKeys,
    deprecatedCalls,
    close: async () => {
      await Promise.all([pets.close(), apiKeys.close(), deprecatedCalls.close()]);
    },
  });
}
