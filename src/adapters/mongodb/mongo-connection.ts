import { setTimeout as delay } from 'node:timers/promises';
import { ReadConcern, type Collection, type Db, type Document, type MongoClient } from 'mongodb';
import type { CallOptions } from '../../application/animal-store.js';
import {
  isReading,
  notices,
  requireWriting,
  type OpenMode,
  type OpenOptions,
} from '../../application/ports/store.js';
import { UnavailableError, isError } from '../../domain/errors.js';
import { createIndexes, refuseUnfit } from './database-schema.js';
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

/** In milliseconds: an attempt gets two fifths of it, a minute. The server continues to build an index after that. */
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

/** The client and the database of one store: connects, prepares the database, runs calls, closes. */
export class MongoConnection {
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #mode: OpenMode;
  readonly #timeout: number;
  /** Says nothing once the store is closing. */
  readonly #notice: ReturnType<typeof notices>;
  readonly #reachability: ReturnType<typeof watchReachability>;
  readonly #running = new Set<Promise<unknown>>();
  /** Whether the collections can hold a store. Until that is known, each call checks them before it begins. */
  #isChecked: boolean;
  /** Resolved once no preparation is running. */
  #preparations = Promise.resolve();
  /** Set by `close`. */
  #closed: Promise<void> | undefined;

  constructor(
    client: MongoClient,
    database: string,
    { timeout = 5000, mode = 'create', onNotice }: MongoStoreOptions,
  ) {
    this.#client = client;
    this.#mode = mode;
    this.#timeout = timeout;
    const notice = notices({ onNotice });
    this.#notice = (line, level) => {
      if (!this.#closed) notice(line, level);
    };
    this.#reachability = watchReachability(client, this.#notice);
    // What is acknowledged survives the loss of any one member, and every later read sees it.
    this.#database = client.db(database, {
      readPreference: 'primary',
      readConcern: new ReadConcern('majority'),
      writeConcern: {
        w: 'majority',
        journal: true,
        wtimeoutMS: SILENCE_LIMIT,
      },
    });
    this.#isChecked = isReading(mode);
    this.prepare();
  }

  /**
   * Creates what is missing, in the background, as soon as the database is reachable. If a preparation is already
   * running, runs one more afterwards: the database may have been dropped meanwhile.
   */
  prepare(): void {
    if (this.#mode !== 'create') return;
    this.#preparations = this.#preparations.then(() => this.#prepareUntilDone());
  }

  collection<Schema extends Document>(name: string): Collection<Schema> {
    return this.#database.collection<Schema>(name);
  }

  /** Whether the database holds a store: a collection of animals. `true` while it is unreachable. */
  async mayHoldStore(): Promise<boolean> {
    try {
      return await this.run('looking for the store', undefined, (options) =>
        this.#database.listCollections({ name: 'pets' }, options).hasNext(),
      );
    } catch {
      return true; // the first call will say why
    }
  }

  check(call?: CallOptions): Promise<void> {
    return this.run('checking the store', call, async (options) => {
      // More than a ping: it needs the primary, and the right to read.
      await this.collection('pets').findOne({}, { ...options, projection: { _id: 1 } });
    });
  }

  /** Runs a call: see `retryWhileTransient`. */
  readonly run: RunCall = async (doing, call, attempt) => {
    const { signal, timeout = this.#timeout } = call ?? {};
    const running = retryWhileTransient(doing, { signal, timeout }, async (options) => {
      await this.#requireConnection(doing, timeout);
      options.signal.throwIfAborted();
      if (!this.#isChecked) await refuseUnfit(this.#database, options);
      this.#isChecked = true;
      return attempt(options);
    });
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  };

  /** Runs a call that writes. */
  readonly write: RunCall = async (doing, call, attempt) => {
    requireWriting(this.#mode, doing);
    return this.run(doing, call, attempt);
  };

  /** Refuses at once after close, and while the database has been unreachable for the timeout of a call. */
  async #requireConnection(doing: string, timeout: number): Promise<void> {
    if (this.#closed) throw new UnavailableError(`${doing} after close`);
    const connecting = this.#connect();
    const cause = this.#reachability.faultAfter(timeout);
    if (cause === undefined) return connecting;
    // The client goes on connecting, for later calls. Whether it fails is not for this one.
    connecting.catch(() => {});
    throw new UnavailableError(doing, { cause });
  }

  /** The driver reconnects by itself, but only once it has been connected. */
  async #connect(): Promise<void> {
    try {
      await this.#client.connect();
    } catch (error) {
      // A lookup of mongodb+srv: without hosts, the driver watches none.
      if (isNetworkError(error)) this.#reachability.setUnreachable(error);
      throw error;
    }
    // A client that was closed while it looked up the hosts of mongodb+srv connects all the same: close it again.
    if (this.#closed) await this.#client.close();
  }

  /** Refuses new calls at once. Calls in progress have two seconds to finish, then they reject. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await within(SILENCE_LIMIT, undefined, () => Promise.allSettled(this.#running)).catch(() => {});
    // The driver first ends its sessions on the server; a silent one would delay that.
    await within(SILENCE_LIMIT, undefined, () => this.#client.close()).catch(() => {});
  }

  /** Never rejects. Tries until it succeeds, and says why not, unless it was said that the database is unreachable. */
  async #prepareUntilDone(): Promise<void> {
    let pause = FIRST_PAUSE;
    while (!this.#closed) {
      try {
        await this.check();
        return await this.#createIndexes();
      } catch (error) {
        const { message, cause } = error as Error;
        const reason = isError(cause) ? cause.message : message;
        const isUnreachable = this.#reachability.faultAfter(0) !== undefined;
        if (isUnreachable) pause = FIRST_PAUSE;
        else this.#notice(`the database is not prepared yet, retrying: ${reason}`);
      }
      await delay(pause, undefined, { ref: false });
      pause = Math.min(LAST_PAUSE, pause * 2);
    }
  }

  #createIndexes(): Promise<void> {
    const call = { timeout: INDEX_TIMEOUT };
    return this.run('creating indexes', call, (options) =>
      createIndexes(this.#database, this.#notice, options),
    );
  }
}
