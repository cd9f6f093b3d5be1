import { ReadConcern, type MongoClient } from 'mongodb';
import { unlessAborted } from '../../application/abort.js';
import type { CallOptions } from '../../application/animal-store.js';
import { requireWritable, type OpenMode } from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import { isStoreFailure, isUnanswered } from './mongo-errors.js';
import { prepareDatabase } from './prepare-database.js';
import { retry } from './retry.js';
import { watchServers } from './server-faults.js';

/*
 * Timeouts in milliseconds, shortest inside, so that an error names what was slow: the server, the driver (see
 * `clientOf`), a call of the store, the request.
 */

/** How long the server may work on a read. Every read passes it. */
export const READ_OPTIONS = { maxTimeMS: 1500 } as const;
/** How long a write may wait for the majority. */
const WRITE_LIMIT = 1500;
const CALL_LIMIT = 4000;
const CLOSE_LIMIT = 4000;

export type MongoConnection = ReturnType<typeof mongoConnection>;

/** The database of one store, and how calls use it. */
export function mongoConnection(client: MongoClient, databaseName: string, mode: OpenMode) {
  // What is acknowledged survives the loss of any one server, and every later read sees it. Set here,
  // because the URL could weaken it.
  const database = client.db(databaseName, {
    readConcern: new ReadConcern('majority'),
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: WRITE_LIMIT },
  });
  const faultOfServers = watchServers(client);
  let preparing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  async function run<Result>(
    doing: string,
    { signal }: CallOptions = {},
    work: () => Promise<Result>,
    limit = CALL_LIMIT,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const connectAndWork = async () => {
      if (closing) throw new UnavailableError(`${doing} after close`);
      // Does nothing when connected. After a failed connect, the driver waits to be told.
      await client.connect();
      return work();
    };
    try {
      return await retry(connectAndWork, limit, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isStoreFailure(error)) throw error;
      const cause = (isUnanswered(error) && faultOfServers()) || error;
      throw new UnavailableError(doing, { cause });
    }
  }

  const write: typeof run = async (doing, call, work) => {
    requireWritable(mode, doing);
    return run(doing, call, async () => {
      preparing ??= prepareDatabase(database);
      try {
        await preparing;
        return await work();
      } catch (error) {
        // The next try prepares again: the preparation may have failed, or an election undone it.
        if (isStoreFailure(error)) preparing = undefined;
        throw error;
      }
    });
  };

  return {
    database,
    /** Does work that reads, and retries it after a transient failure. */
    read: run,
    /** Does work that writes, and retries it after a transient failure: it must be safe to retry. */
    write,
    /** Calls in progress reject. Safe to call twice. */
    close(): Promise<void> {
      // A client closed while it resolves mongodb+srv still opens afterwards: close it again.
      client.on('open', () => void client.close());
      // The driver first ends its sessions on the server, which may not answer.
      const late = AbortSignal.timeout(CLOSE_LIMIT);
      closing ??= unlessAborted(client.close(), late).catch(() => {});
      return closing;
    },
  };
}
