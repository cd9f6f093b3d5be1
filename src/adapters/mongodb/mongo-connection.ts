import type { Db, MongoClient } from 'mongodb';
import { unlessAborted, type CallOptions } from '../../application/call-options.js';
import type { OpenMode } from '../../application/ports/store.js';
import { requireOpen, requireWritable } from '../../application/store-rules.js';
import { UnavailableError } from '../../domain/errors.js';
import { prepareCollections } from './collections.js';
import { isStoreFailure, lacksReason } from './mongo-errors.js';
import { retry } from './retry.js';
import { watchServers } from './server-failures.js';

/** How long a call may take, with its retries, in milliseconds. */
const CALL_TIMEOUT = 4000;

/** How long to wait for the client to close, in milliseconds. */
const CLOSE_TIMEOUT = 4000;

/**
 * The work of a call, done again after a transient failure. `requirePending` throws once the call was rejected: call it
 * after a long wait, before a write.
 */
export type Work<Result> = (requirePending: () => void) => Promise<Result>;

export type MongoConnection = ReturnType<typeof mongoConnection>;

/** The database of one store, and how calls use it. */
export function mongoConnection(database: Db, mode: OpenMode) {
  const { client } = database;
  const lastServerFailure = watchServers(client);
  let preparing: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  /**
   * Does work, and retries it after a transient failure.
   * @throws {UnavailableError} the store failed; `cause` says how
   */
  async function run<Result>(
    doing: string,
    { signal }: CallOptions = {},
    work: Work<Result>,
    timeout = CALL_TIMEOUT,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const connectAndWork = async (requirePending: () => void) => {
      requireOpen(closing === undefined, doing);
      // Does nothing when connected. The driver does not retry a first connect that failed.
      await client.connect();
      return work(requirePending);
    };
    try {
      return await retry(connectAndWork, timeout, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isStoreFailure(error)) throw error;
      const cause = (lacksReason(error) && lastServerFailure()) || error;
      throw new UnavailableError(doing, { cause });
    }
  }

  /** As `run`, for work that writes. The work must be safe to retry. */
  async function write<Result>(
    doing: string,
    options: CallOptions = {},
    work: Work<Result>,
  ): Promise<Result> {
    options.signal?.throwIfAborted();
    requireWritable(mode, doing);
    return run(doing, options, async (requirePending) => {
      preparing ??= prepareCollections(database, mode);
      try {
        await preparing;
        requirePending();
        return await work(requirePending);
      } catch (error) {
        // The next try prepares again: the preparation may have failed, or an election may have undone it.
        if (isStoreFailure(error) || error instanceof UnavailableError) preparing = undefined;
        throw error;
      }
    });
  }

  return {
    database,
    read: run,
    write,
    /** Calls in progress reject. Safe to call twice. */
    close(): Promise<void> {
      closing ??= closeClient(client);
      return closing;
    },
  };
}

function closeClient(client: MongoClient): Promise<void> {
  // A client that is closed while it resolves mongodb+srv still opens afterwards: close it again.
  client.once('open', () => void client.close().catch(() => {}));
  // The driver first ends its sessions on the server, and the server may not answer.
  const late = AbortSignal.timeout(CLOSE_TIMEOUT);
  return unlessAborted(client.close(), late).catch(() => {});
}
