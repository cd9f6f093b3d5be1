import { MongoClient, ReadConcern, type Db } from 'mongodb';
import { MongoStoreError } from './mongo-errors.js';
import { sharedLookup } from './shared-lookup.js';

/*
 * Timeouts in milliseconds. Each is shorter than the one around it, so that an error names what was slow: the server,
 * the driver, the call (`CALL_TIMEOUT`), the request.
 */
const SERVER_TIMEOUT = 1500;
const DRIVER_TIMEOUT = 2000;

/** For every read. */
export const READ_OPTIONS = { maxTimeMS: SERVER_TIMEOUT } as const;

/** Matches a URL that names a database. The driver does not say whether it does: `dbName` is `test` if not. */
const WITH_DATABASE = /^[^/]+\/\/[^/?]*\/[^?]/;

/**
 * The database at `url`. Its client connects when it is first used.
 * @throws {MongoStoreError} the URL is not valid
 */
export function mongoDatabase(url: string): Db {
  try {
    const client = new MongoClient(url, {
      connectTimeoutMS: SERVER_TIMEOUT,
      heartbeatFrequencyMS: 2000,
      serverSelectionTimeoutMS: DRIVER_TIMEOUT,
      socketTimeoutMS: DRIVER_TIMEOUT,
      waitQueueTimeoutMS: DRIVER_TIMEOUT,
      lookup: sharedLookup(),
      readPreference: 'primary',
      // With `useBigInt64`, streaming heartbeats can crash the process during an election.
      serverMonitoringMode: 'poll',
      useBigInt64: true,
      ignoreUndefined: true,
    });
    const name = WITH_DATABASE.test(url) ? client.options.dbName : 'animal-store';
    // An acknowledged write survives the loss of any one server. Set here, because the URL could set less.
    return client.db(name, {
      readConcern: new ReadConcern('majority'),
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: SERVER_TIMEOUT },
    });
  } catch {
    // The driver's message may quote the password.
    throw new MongoStoreError(
      'The URL is not a MongoDB connection string (https://www.mongodb.com/docs/manual/reference/connection-string).',
    );
  }
}
