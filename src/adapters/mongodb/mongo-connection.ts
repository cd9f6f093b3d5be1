import { ReadConcern, type MongoClient } from 'mongodb';
import { unlessAborted } from '../../application/abort.js';
import type { CallOptions } from '../../application/animal-store.js';
import { requireWriting, type OpenMode } from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import { isOfDatabase, isUnanswered } from './mongo-errors.js';
import { prepareDatabase } from './prepare-database.js';
import { repeat } from './repeat.js';
import { watchServers } from './server-faults.js';

/*
 * Limits of time, in milliseconds. Inner ones are shorter, so that an error names what was slow: the server, the driver's
 * waits (see `clientOf`), a call of the store, the request.
 */

/** How long the server may work on a read. Every read passes it. */
export const READ_LIMIT = { maxTimeMS: 1500 } as const;
/** How long a write may wait for the majority. */
const WRITE_LIMIT = 1500;
const CALL_LIMIT = 4000;
const CLOSE_LIMIT = 4000;

export type MongoConnection = ReturnType<typeof mongoConnection>;

/** The database of one store, and how calls use it. */
export function mongoConnection(client: MongoClient, databaseName: string, mode: OpenMode) {
  // What is acknowledged survives the loss of any one server, and every later read sees it. Here, the URL cannot change it.
  const database = client.db(databaseName, {
    readConcern: new ReadConcern('majority'),
    writeConcern: {
      w: 'majority',
      journal: true,
      wtimeoutMS: WRITE_LIMIT,
    },
  });
  const faultOfServers = watchServers(client);
  let preparing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  async function run<Result>(
    doing: string,
    call: CallOptions | undefined,
    work: () => Promise<Result>,
    limit = CALL_LIMIT,
  ): Promise<Result> {
    const signal = call?.signal;
    signal?.throwIfAborted();
    const connectAndWork = async () => {
      if (closing) throw new UnavailableError(`${doing} after close`);
      // After a failure to connect, the driver connects only when it is told to.
      await client.connect();
      return work();
    };
    try {
      return await repeat(connectAndWork, limit, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isOfDatabase(error)) throw error;
      const cause = (isUnanswered(error) && faultOfServers()) || error;
      throw new UnavailableError(doing, { cause });
    }
  }

  const write: typeof run = async (doing, call, work) => {
    requireWriting(mode, doing);
    return run(doing, call, async () => {
      preparing ??= prepareDatabase(database);
      try {
        await preparing;
        return await work();
      } catch (error) {
        // An election may have undone it.
        if (isOfDatabase(error)) preparing = undefined;
        throw error;
      }
    });
  };

  return {
    database,
    /** Does work that reads, and repeats it after a transient failure. */
    read: run,
    /** Does work that writes, and repeats it after a transient failure: it must be safe to repeat. */
    write,
    /** Calls in progress reject. Safe to call twice. */
    close(): Promise<void> {
      // A client that is closed while it looks up the servers of mongodb+srv opens all the same.
      client.on('open', () => void client.close());
      // The driver first ends its sessions on the server, which may be silent.
      const late = AbortSignal.timeout(CLOSE_LIMIT);
      closing ??= unlessAborted(client.close(), late).catch(() => {});
      return closing;
    },
  };
}
