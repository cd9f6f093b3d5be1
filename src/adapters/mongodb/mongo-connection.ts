import { setTimeout as delay } from 'node:timers/promises';
import { ReadConcern, type Collection, type Document, type MongoClient } from 'mongodb';
import type { CallOptions } from '../../application/animal-store.js';
import {
  isReading,
  notices,
  requireWriting,
  type OpenMode,
  type OpenOptions,
} from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import {
  createIndexes,
  refuseOtherVersion,
  refuseUnfit,
  reportUnlisted,
} from './database-schema.js';
import { isNetworkError } from './mongo-errors.js';
import { watchReachability } from './reachability.js';
import { SILENCE_LIMIT, retryWhileTransient, within, type Attempt } from './retry.js';

/** How a MongoDB store is opened. */
export interface MongoStoreOptions extends OpenOptions {
  /**
   * How long a call may take, in milliseconds. Until then it waits for a database that is unreachable, and retries what
   * was interrupted; its own signal may end it sooner. The batches of `transfer` have a minute. Default: 5,000.
   */
  readonly timeout?: number | undefined;
}

/**
 * How long a try to create the indexes may take, in milliseconds. Each attempt gets two fifths of it, a minute. The
 * server continues to build an index after that.
 */
const INDEX_TIMEOUT = 150_000;

/** The pauses between two tries to prepare the database, in milliseconds. They grow. */
const FIRST_PAUSE = 5000;
const LAST_PAUSE = 60_000;

/** Makes attempts until one succeeds or the timeout, in milliseconds, is over. Default: that of the store. */
type RunCall = <Result>(
  doing: string,
  call: (CallOptions & { readonly timeout?: number }) | undefined,
  attempt: Attempt<Result>,
) => Promise<Result>;

export type MongoConnection = ReturnType<typeof mongoConnection>;

/** The client and the database of one store: connects, prepares the database, runs calls, closes. */
export function mongoConnection(
  client: MongoClient,
  databaseName: string,
  {
    timeout: usualTimeout,
    mode,
    onNotice,
  }: MongoStoreOptions & { readonly timeout: number; readonly mode: OpenMode },
) {
  /** Whether the next call must first check that the database can hold a store of this version. */
  let mustCheckDatabase = true;
  /** Resolved once no preparation is running. */
  let preparations = Promise.resolve();
  /** Set by `close`. */
  let closed: Promise<void> | undefined;

  const running = new Set<Promise<unknown>>();
  // What is acknowledged survives the loss of any one member, and every later read sees it.
  const database = client.db(databaseName, {
    readPreference: 'primary',
    readConcern: new ReadConcern('majority'),
    writeConcern: {
      w: 'majority',
      journal: true,
      wtimeoutMS: SILENCE_LIMIT,
    },
  });
  const noticeAlways = notices({ onNotice });
  /** Reports nothing once the store is closing. */
  const notice: typeof noticeAlways = (line, level) => {
    if (!closed) noticeAlways(line, level);
  };
  const reachability = watchReachability(client, notice);

  /** The driver reconnects by itself, but only once it has been connected. */
  async function connect(): Promise<void> {
    try {
      await client.connect();
    } catch (error) {
      // If it could not look up the hosts of mongodb+srv, the driver watches no server and reports nothing.
      if (isNetworkError(error)) reachability.setUnreachable(error);
      throw error;
    }
    // A client that was closed while it looked up the hosts of mongodb+srv connects all the same: close it again.
    if (closed) await client.close();
  }

  /** Refuses at once after close, and while the database has been unreachable for the timeout of a call. */
  async function requireConnection(doing: string, timeout: number): Promise<void> {
    if (closed) throw new UnavailableError(`${doing} after close`);
    const connecting = connect();
    const cause = reachability.faultAfter(timeout);
    if (cause === undefined) return connecting;
    // The client continues to connect, for later calls. This one no longer waits for the outcome.
    connecting.catch(() => {});
    throw new UnavailableError(doing, { cause });
  }

  /** Runs a call: see `retryWhileTransient`. */
  const run: RunCall = async (doing, call, attempt) => {
    const { signal, timeout = usualTimeout } = call ?? {};
    const outcome = retryWhileTransient(doing, { signal, timeout }, async (options) => {
      await requireConnection(doing, timeout);
      options.signal.throwIfAborted();
      if (mustCheckDatabase) {
        await refuseOtherVersion(database, options);
        if (!isReading(mode)) await refuseUnfit(database, options);
      }
      mustCheckDatabase = false;
      return attempt(options);
    });
    running.add(outcome);
    try {
      return await outcome;
    } finally {
      running.delete(outcome);
    }
  };

  /** Runs a call that writes. */
  const write: RunCall = async (doing, call, attempt) => {
    requireWriting(mode, doing);
    return run(doing, call, attempt);
  };

  const check = (call?: CallOptions): Promise<void> =>
    run('checking the store', call, async (options) => {
      // More than a ping: it needs the primary, and the right to read.
      await database.collection('pets').findOne({}, { ...options, projection: { _id: 1 } });
    });

  /** Whether the database holds a store: a collection of animals. `true` while it is unreachable. */
  async function mayHoldStore(): Promise<boolean> {
    try {
      return await run('looking for the store', undefined, async (options) => {
        const isStore = await database.listCollections({ name: 'pets' }, options).hasNext();
        if (isStore) await reportUnlisted(database, notice, options);
        return isStore;
      });
    } catch {
      return true; // the first call will say why
    }
  }

  /**
   * Prepares the database: retries until it succeeds or the store is closed. Reports each failure, unless the database is
   * unreachable: that was reported already. Never rejects.
   */
  async function prepareUntilDone(): Promise<void> {
    let pause = FIRST_PAUSE;
    while (true) {
      if (closed) return;
      try {
        await check();
        return await run('creating indexes', { timeout: INDEX_TIMEOUT }, async (options) => {
          await createIndexes(database, notice, options);
          await reportUnlisted(database, notice, options);
        });
      } catch (error) {
        const { message, cause } = error as Error;
        const reason = cause instanceof Error ? cause.message : message;
        const isUnreachable = reachability.faultAfter(0) !== undefined;
        if (isUnreachable) pause = FIRST_PAUSE;
        else notice(`the database is not prepared yet, retrying: ${reason}`);
      }
      await delay(pause, undefined, { ref: false });
      pause = Math.min(LAST_PAUSE, pause * 2);
    }
  }

  /**
   * Creates what is missing, in the background, as soon as the database is reachable. If a preparation is already
   * running, runs one more afterwards: the database may have been dropped meanwhile.
   */
  function prepare(): void {
    if (mode !== 'create') return;
    preparations = preparations.then(prepareUntilDone);
  }

  async function finishAndClose(): Promise<void> {
    await within(SILENCE_LIMIT, undefined, () => Promise.allSettled(running)).catch(() => {});
    // The driver first ends its sessions on the server; a silent one would delay that.
    await within(SILENCE_LIMIT, undefined, () => client.close()).catch(() => {});
  }

  prepare();
  return {
    run,
    write,
    check,
    mayHoldStore,
    prepare,
    collection: <Schema extends Document>(name: string): Collection<Schema> =>
      database.collection<Schema>(name),
    /** Refuses new calls at once. Calls in progress have two seconds to finish, then they reject. Safe to call twice. */
    close: (): Promise<void> => {
      closed ??= finishAndClose();
      return closed;
    },
  };
}
