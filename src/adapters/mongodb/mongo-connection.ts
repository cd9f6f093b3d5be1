import { setTimeout as delay } from 'node:timers/promises';
import { ReadConcern, UUID, type Collection, type Db, type Document, type MongoClient } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import { UnavailableError } from '../../domain/errors.js';
import { abortable } from './abortable.js';
import { makeCollections, makeIndexes } from './database-schema.js';
import { isPassing } from './mongo-error.js';
import { ATTEMPT_TIMEOUT, retryWhilePassing, within } from './retry.js';

export interface MongoConnectionOptions {
  readonly timeout: number;
  /** How often a call is tried at most, for tests of trying again. */
  readonly attempts?: number;
  readonly tell: (line: string) => void;
  /** Nothing is made or changed but by what is called: the store is there already. */
  readonly mustExist?: boolean | undefined;
}

/** How patient a call is, in milliseconds: for how long it is begun again, and how long each attempt may take. */
export interface Patience {
  readonly timeout: number;
  readonly attemptTimeout: number;
}

interface CallOptions extends Call {
  /** `false` does it once. */
  readonly retry?: boolean | undefined;
  /** That of the store when left out. */
  readonly patience?: Patience | undefined;
}

/** How long a try to prepare the database may take, in milliseconds. An index goes on being built after it. */
const PREPARE_TIMEOUT = 60_000;

/** The longest wait between two tries to prepare the database, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** A client and its database, in use until the last repository is closed. */
export class MongoConnection {
  readonly tell: (line: string) => void;
  readonly #timeout: number;
  readonly #attempts: number;
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #closing = new AbortController();
  readonly #mustExist: boolean;
  readonly #prepared: Promise<void>;
  #users = 0;
  #connected = false;
  #told = '';
  #connecting: Promise<void> | undefined;

  constructor(
    client: MongoClient,
    database: string,
    { timeout, attempts = Infinity, tell, mustExist = false }: MongoConnectionOptions,
  ) {
    this.#client = client;
    this.#timeout = timeout;
    this.#attempts = attempts;
    this.tell = tell;
    // What was answered survives the loss of any one member, and every read that comes later sees it.
    this.#database = client.db(database, {
      readPreference: 'primary',
      readConcern: new ReadConcern('majority'),
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: ATTEMPT_TIMEOUT },
    });
    this.#mustExist = mustExist;
    this.#prepared = mustExist ? Promise.resolve() : this.#prepare();
  }

  collection<Schema extends Document>(name: string): Collection<Schema> {
    return this.#database.collection<Schema>(name);
  }

  /** Whether the database has the collection of animals, and so a store. */
  async hasStore(signal: AbortSignal): Promise<boolean> {
    const options = abortable({ nameOnly: true, authorizedCollections: true }, signal);
    return (await this.#database.listCollections({ name: 'pets' }, options).toArray()).length > 0;
  }

  /** What the server knows the collection of animals by, under whatever name it is reached. */
  async petsUuid(signal: AbortSignal): Promise<string | undefined> {
    const options = abortable({ nameOnly: false }, signal);
    const [pets] = await this.#database.listCollections({ name: 'pets' }, options).toArray();
    const uuid: unknown = pets && 'info' in pets ? pets.info?.['uuid'] : undefined;
    return uuid instanceof UUID ? uuid.toString() : undefined;
  }

  /** A repository begins to use the connection: it has calls until `release`. */
  retain(): void {
    this.#users += 1;
  }

  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#closing.abort();
    await Promise.allSettled([this.#prepared, this.#connecting]);
    // It says goodbye to the server, and would wait long for one that is silent.
    await within(ATTEMPT_TIMEOUT, undefined, () => this.#client.close()).catch(() => {});
  }

  /** Does `attempt` until it goes well, see `retryWhilePassing`. */
  run<Result>(
    doing: string,
    { signal, admit, retry = true, patience }: CallOptions & { admit: () => void },
    attempt: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const attempts = retry ? this.#attempts : 1;
    const options = { signal, admit, attempts, timeout: this.#timeout, ...patience };
    return retryWhilePassing(doing, options, async (aborted) => {
      if (!this.#connected) await this.#connect();
      aborted.throwIfAborted();
      return attempt(aborted);
    });
  }

  /**
   * The driver comes back by itself once it was connected, but not when its first connection failed. The collections
   * are there before the first document: a write would make one without its validator.
   */
  #connect(): Promise<void> {
    const connect = async (): Promise<void> => {
      try {
        await this.#client.connect();
        if (!this.#mustExist) await this.#makeCollections();
        this.#connected = true;
      } finally {
        this.#connecting = undefined;
      }
    };
    this.#connecting ??= connect();
    return this.#connecting;
  }

  async #makeCollections(): Promise<void> {
    try {
      await within(ATTEMPT_TIMEOUT, this.#closing.signal, (signal) =>
        makeCollections(this.#database, this.tell, signal),
      );
    } catch (error) {
      if (isPassing(error)) throw error;
      this.#tellUnprepared(error);
    }
  }

  /** Has collections and indexes made, as soon as the database can be reached. Never rejects. */
  async #prepare(): Promise<void> {
    const { signal } = this.#closing;
    for (let pause = 500; !signal.aborted; pause = Math.min(LONGEST_PAUSE, pause * 2)) {
      try {
        await within(PREPARE_TIMEOUT, signal, async (aborted) => {
          await this.#connect();
          await makeCollections(this.#database, this.tell, aborted);
          await makeIndexes(this.#database, this.tell, aborted);
        });
        return;
      } catch (error) {
        this.#tellUnprepared(error);
      }
      await delay(pause, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  #tellUnprepared(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#closing.signal.aborted || message === this.#told) return;
    this.#told = message;
    this.tell(`the database is not prepared yet, and will be tried again: ${message}`);
  }
}

/** One repository's use of a connection: until it is closed, which is safe to do twice. */
export class MongoSession {
  readonly connection: MongoConnection;
  readonly #running = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(connection: MongoConnection) {
    this.connection = connection;
    connection.retain();
  }

  async run<Result>(
    doing: string,
    { signal, retry, patience }: CallOptions,
    attempt: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const admit = (): void => {
      if (this.#closed !== undefined) throw new UnavailableError(`${doing} after close`);
    };
    const running = this.connection.run(doing, { signal, retry, patience, admit }, attempt);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Lets the attempts on their way end, and begins no other. */
  close(): Promise<void> {
    this.#closed ??= Promise.allSettled(this.#running).then(() => this.connection.release());
    return this.#closed;
  }
}
