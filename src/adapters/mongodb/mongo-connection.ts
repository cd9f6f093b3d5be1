import { setTimeout as delay } from 'node:timers/promises';
import {
  MongoNetworkError,
  ReadConcern,
  type Collection,
  type Db,
  type Document,
  type MongoClient,
  type ServerDescription,
  type TopologyDescription,
} from 'mongodb';
import type { CallOptions } from '../../application/animal-store.js';
import {
  isReading,
  notices,
  requireWriting,
  type OpenMode,
  type OpenOptions,
} from '../../application/ports/store.js';
import { UnavailableError, isError } from '../../domain/errors.js';
import { UnfitCollectionError, createIndexes, refuseUnfit } from './database-schema.js';
import { isLasting, isNetworkError } from './mongo-errors.js';
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

/** The pauses between two tries to prepare the database, in milliseconds. They grow. */
const FIRST_PAUSE = 5000;
const LAST_PAUSE = 60_000;

const NOT_PRIMARY = new Error(
  'the URL leads to one member, which takes no writes: name the replica set, without directConnection',
);

/** Why a server that was reached cannot serve a URL that names the replica set `wanted`, if it does; else `undefined`. */
function strangerFault(
  host: string,
  { isreplicaset, setName = 'none' }: Document,
  wanted: string | undefined,
): Error | undefined {
  if (isreplicaset)
    return new Error(`the replica set of ${host} is not initiated, or has removed this member`);
  return wanted === undefined || wanted === setName
    ? undefined
    : new Error(`the URL names the replica set ${wanted}; that of ${host} is ${setName}`);
}

const messageOf = (error: unknown): string => (isError(error) ? error.message : String(error));

/** The client and the database of one store: connects, prepares the database, runs calls, closes. */
export class MongoConnection {
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #timeout: number;
  readonly #notice: ReturnType<typeof notices>;
  readonly #running = new Set<Promise<unknown>>();
  /** Why servers that were reached cannot serve, by host. */
  readonly #strangers = new Map<string, Error>();
  #isClosing = false;
  #closed: Promise<void> | undefined;
  /** Set while the driver can reach no server to write to: the reason, and since when. */
  #away: { readonly cause: unknown; readonly since: number } | undefined;
  readonly #mode: OpenMode;
  /** Set while a collection cannot hold a store. */
  #refusal: UnfitCollectionError | undefined;
  /** Calls wait for it: settled once the collections were looked at, or could not be. */
  readonly #looked = Promise.withResolvers<void>();
  #prepared = Promise.resolve();

  constructor(
    client: MongoClient,
    database: string,
    { timeout = 5000, mode = 'create', onNotice }: MongoStoreOptions,
  ) {
    this.#client = client;
    this.#timeout = timeout;
    this.#notice = notices({ onNotice });
    client.on('topologyDescriptionChanged', ({ newDescription }) => this.#watch(newDescription));
    // The driver forgets a server of another replica set, so its description does not tell.
    client.on('serverHeartbeatSucceeded', ({ connectionId: host, reply }) => {
      const fault = strangerFault(host, reply, client.options.replicaSet);
      if (fault) this.#strangers.set(host, fault);
      else this.#strangers.delete(host);
    });
    // What is acknowledged survives the loss of any one member, and every later read sees it.
    this.#database = client.db(database, {
      readPreference: 'primary',
      readConcern: new ReadConcern('majority'),
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: SILENCE_LIMIT },
    });
    this.#mode = mode;
    if (isReading(mode)) this.#looked.resolve();
    else this.prepare();
  }

  /**
   * Checks the collections, and creates what is missing, in the background, as soon as the database can be reached. Again
   * after a preparation that is in progress: the database may have been dropped behind it.
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

  check({ signal }: CallOptions = {}): Promise<void> {
    return this.run('checking the store', { signal }, async (options) => {
      // More than a ping: it needs the primary, and the right to read.
      await this.collection('pets').findOne({}, { ...options, projection: { _id: 1 } });
    });
  }

  /** Runs a call: see `retryWhileTransient`. */
  run<Result>(
    doing: string,
    call: CallOptions & { readonly timeout?: number },
    attempt: (options: AttemptOptions) => Promise<Result>,
  ): Promise<Result> {
    return this.#run(doing, call, async (options) => {
      await this.#looked.promise;
      options.signal.throwIfAborted();
      if (this.#refusal) throw new UnavailableError(doing, { cause: this.#refusal });
      return attempt(options);
    });
  }

  /** Runs a call that writes. */
  async write<Result>(...given: Parameters<typeof this.run<Result>>): Promise<Result> {
    const [doing, { signal }] = given;
    signal?.throwIfAborted();
    requireWriting(this.#mode, doing);
    return this.run(...given);
  }

  #run<Result>(
    doing: string,
    { signal, timeout = this.#timeout }: CallOptions & { readonly timeout?: number },
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
    // One that was not asked yet may be the primary.
    const isUnknown = ({ address, type: member, error }: ServerDescription): boolean =>
      member === 'Unknown' && !error && !this.#strangers.has(address);
    if (all.some(isUnknown)) return;
    const [stranger] = this.#strangers.values();
    const fault = all.find(({ error }) => error instanceof MongoNetworkError || isLasting(error));
    if (fault) this.#setAway(fault.error);
    // It is no election, which a call would wait for.
    else if (stranger) this.#setAway(stranger, -Infinity);
    // With `directConnection` the driver reads from a member that takes no writes.
    else if (type === 'Single' && all.some(({ type: member }) => member !== 'Unknown'))
      this.#setAway(NOT_PRIMARY);
  }

  #setAway(cause: unknown, since = performance.now()): void {
    if (!this.#away && !this.#isClosing) this.#notice(`the database is away: ${messageOf(cause)}`);
    this.#away = { cause, since: this.#away?.since ?? since };
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

  /** Never rejects. Tries until it succeeds, and says each time why not, unless it was said that the database is away. */
  async #prepare(): Promise<void> {
    for (let pause = FIRST_PAUSE; !this.#isClosing; pause = Math.min(LAST_PAUSE, pause * 2)) {
      try {
        // Says within seconds why no server can be reached: an index may take longer.
        const reaching = { timeout: FIRST_PAUSE };
        await this.#run('reaching the database', reaching, (options) =>
          this.#database.command({ ping: 1 }, options),
        );
        const preparing = { timeout: PREPARE_TIMEOUT };
        return await this.#run('preparing the database', preparing, async (options) => {
          await refuseUnfit(this.#database, options);
          this.#refusal = undefined;
          this.#looked.resolve();
          if (this.#mode === 'create') await createIndexes(this.#database, this.#notice, options);
        });
      } catch (error) {
        if (error instanceof UnfitCollectionError) this.#refusal = error;
        this.#looked.resolve();
        const reason = messageOf(error instanceof UnavailableError ? error.cause : error);
        // While the database is away, that was said.
        if (!this.#away && !this.#isClosing)
          this.#notice(`the database is not prepared yet, retrying: ${reason}`);
      }
      if (this.#away) pause = FIRST_PAUSE;
      await delay(pause, undefined, { ref: false });
    }
  }
}
