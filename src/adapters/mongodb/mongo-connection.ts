import { setTimeout as delay } from 'node:timers/promises';
import {
  MongoNetworkError,
  ReadConcern,
  type Collection,
  type Db,
  type Document,
  type MongoClient,
  type TopologyDescription,
} from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import { notices, type OpenOptions } from '../../application/ports/store.js';
import { UnavailableError, isError } from '../../domain/errors.js';
import { prepareDatabase } from './database-schema.js';
import { isNetworkError } from './mongo-errors.js';
import { SILENCE_LIMIT, retryWhileTransient, within, type AttemptOptions } from './retry.js';

/** How a MongoDB store is opened. */
export interface MongoStoreOptions extends OpenOptions {
  /**
   * How long a call may take, in milliseconds. Until then it waits for a server that is away, and retries what was
   * interrupted; its own signal may end it sooner. The batches of `transfer` have a minute. Default: 5,000.
   */
  readonly timeout?: number | undefined;
}

/** In milliseconds: an attempt gets two fifths of it, a minute. The server continues to build an index after that. */
const PREPARE_TIMEOUT = 150_000;

/** The pause between two tries to prepare the database, in milliseconds. */
const PREPARE_PAUSE = 5000;

const NOT_PRIMARY = new Error(
  'the URL leads to one member, which takes no writes: name the replica set, without directConnection',
);

const messageOf = (error: unknown): string => (isError(error) ? error.message : String(error));

/** The client and the database of one store: connects, prepares the database, runs calls, closes. */
export class MongoConnection {
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #timeout: number;
  readonly #notice: ReturnType<typeof notices>;
  readonly #running = new Set<Promise<unknown>>();
  #isClosing = false;
  #closed: Promise<void> | undefined;
  /** Set while the driver can reach no server to write to: the reason, and since when. */
  #away: { readonly cause: unknown; readonly since: number } | undefined;
  #prepared = Promise.resolve();

  constructor(
    client: MongoClient,
    database: string,
    { timeout = 5000, readOnly, mustExist, onNotice }: MongoStoreOptions,
  ) {
    this.#client = client;
    this.#timeout = timeout;
    this.#notice = notices({ onNotice });
    client.on('topologyDescriptionChanged', ({ newDescription }) => this.#watch(newDescription));
    // What is acknowledged survives the loss of any one member, and every later read sees it.
    this.#database = client.db(database, {
      readPreference: 'primary',
      readConcern: new ReadConcern('majority'),
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: SILENCE_LIMIT },
    });
    if (!readOnly && !mustExist) this.prepare();
  }

  /**
   * Creates missing collections and indexes in the background, as soon as the database can be reached. Again after a
   * preparation that is in progress: the database may have been dropped behind it.
   */
  prepare(): void {
    this.#prepared = this.#prepared.then(() => this.#prepare());
  }

  collection<Schema extends Document>(name: string): Collection<Schema> {
    return this.#database.collection<Schema>(name);
  }

  /** Whether the database holds a store: a collection of animals. `true` while no server can be reached. */
  async mayHoldStore(): Promise<boolean> {
    try {
      return await this.run('looking for the store', {}, (options) => {
        const named = { ...options, nameOnly: true, authorizedCollections: true };
        return this.#database.listCollections({ name: 'pets' }, named).hasNext();
      });
    } catch (error) {
      if (error instanceof UnavailableError) return true; // the first call will say so
      throw error;
    }
  }

  /** Runs a call: see `retryWhileTransient`. */
  run<Result>(
    doing: string,
    { signal, timeout = this.#timeout }: Call & { readonly timeout?: number },
    attempt: (options: AttemptOptions) => Promise<Result>,
  ): Promise<Result> {
    const running = retryWhileTransient(doing, { signal, timeout }, async (options) => {
      if (this.#isClosing) throw new UnavailableError(`${doing} after close`);
      // The driver reconnects by itself, but only once it has been connected.
      const connected = this.#client.connect();
      connected.catch((error: unknown) => {
        // A lookup of mongodb+srv: without hosts, the driver watches none.
        if (isNetworkError(error)) this.#setAway(error);
      });
      if (this.#away && performance.now() - this.#away.since >= timeout)
        throw new UnavailableError(doing, { cause: this.#away.cause });
      await connected;
      // A client that was closed while it looked up the hosts of mongodb+srv connects all the same: close it again.
      await this.#closed?.then(() => this.#client.close());
      options.signal.throwIfAborted();
      return attempt(options);
    });
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  /** Learns from the driver whether there is a server to write to. */
  #watch({ type, servers }: TopologyDescription): void {
    const all = [...servers.values()];
    if (all.some(({ isWritable }) => isWritable)) {
      if (this.#away) this.#notice('the database is back');
      this.#away = undefined;
      return;
    }
    const cause = all.find(({ error }) => error instanceof MongoNetworkError)?.error;
    // One that was not asked yet may be the primary.
    if (all.some(({ type: member, error }) => member === 'Unknown' && !error)) return;
    // With `directConnection` the driver reads from a member that takes no writes.
    if (type === 'Single' && all.some(({ type: member }) => member !== 'Unknown'))
      this.#setAway(NOT_PRIMARY);
    else if (cause) this.#setAway(cause);
  }

  #setAway(cause: unknown): void {
    if (!this.#away && !this.#isClosing) this.#notice(`the database is away: ${messageOf(cause)}`);
    this.#away = { cause, since: this.#away?.since ?? performance.now() };
  }

  /** Refuses new calls at once. Calls in progress have two seconds to finish, then they reject. Safe to call twice. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    await within(SILENCE_LIMIT, undefined, () => Promise.allSettled(this.#running)).catch(() => {});
    // The driver first ends its sessions on the server; a silent one would delay that.
    await within(SILENCE_LIMIT, undefined, () => this.#client.close()).catch(() => {});
  }

  /** Never rejects: it gives one notice for each reason, because the tries go on for as long as the database is away. */
  async #prepare(): Promise<void> {
    let lastReason = '';
    while (!this.#isClosing) {
      try {
        return await this.run('preparing the database', { timeout: PREPARE_TIMEOUT }, (options) =>
          prepareDatabase(this.#database, this.#notice, options),
        );
      } catch (error) {
        const reason = messageOf(error instanceof UnavailableError ? error.cause : error);
        // While the database is away, that was said.
        if (!this.#away && !this.#isClosing && reason !== lastReason) {
          this.#notice(`the database is not prepared yet, retrying: ${reason}`);
        }
        lastReason = reason;
      }
      await delay(PREPARE_PAUSE, undefined, { ref: false });
    }
  }
}
