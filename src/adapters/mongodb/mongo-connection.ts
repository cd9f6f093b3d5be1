import type { Db } from 'mongodb';
import { unlessAborted } from '../../application/abort.js';
import type { CallOptions } from '../../application/animal-store.js';
import { requireWritable, type OpenMode } from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import { isStoreFailure, isUnanswered } from './mongo-errors.js';
import { prepareDatabase } from './prepare-database.js';
import { retry } from './retry.js';
import { watchServers } from './server-faults.js';

/** How long a call may take with its retries, and how long the store waits for the client to close, in milliseconds. */
const CALL_TIMEOUT = 4000;
const CLOSE_TIMEOUT = 4000;

export type MongoConnection = ReturnType<typeof mongoConnection>;

/** The database of one store, and how calls use it. */
export function mongoConnection(database: Db, mode: OpenMode) {
  const { client } = database;
  const faultOfServers = watchServers(client);
  let preparing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  /** Does work that reads, and retries it after a transient failure. */
  async function read<Result>(
    doing: string,
    { signal }: CallOptions = {},
    work: () => Promise<Result>,
    timeout = CALL_TIMEOUT,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const connectAndWork = async () => {
      if (closing) throw new UnavailableError(`${doing} after close`);
      // Does nothing when connected. After a failed connect, the driver waits to be told.
      await client.connect();
      return work();
    };
    try {
      return await retry(connectAndWork, timeout, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isStoreFailure(error)) throw error;
      const cause = (isUnanswered(error) && faultOfServers()) || error;
      throw new UnavailableError(doing, { cause });
    }
  }

  /** Does work that writes, and retries it after a transient failure: it must be safe to retry. */
  async function write<Result>(
    doing: string,
    call: CallOptions | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    requireWritable(mode, doing);
    return read(doing, call, async () => {
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
  }

  return {
    database,
    read,
    write,
    /** Calls in progress reject. Safe to call twice. */
    close(): Promise<void> {
      // A client closed while it resolves mongodb+srv still opens afterwards: close it again.
      client.on('open', () => void client.close());
      // The driver first ends its sessions on the server, which may not answer.
      const late = AbortSignal.timeout(CLOSE_TIMEOUT);
      closing ??= unlessAborted(client.close(), late).catch(() => {});
      return closing;
    },
  };
}
