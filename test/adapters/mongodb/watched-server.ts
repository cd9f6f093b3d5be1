import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';
import { OwnServer } from './own-server.js';

/** After how long a test is asked about the server that it runs on, and how often then, in milliseconds. */
const INTERVAL = 5000;

/** How long the server may take to answer that, in milliseconds. Much, for a busy machine is slow. */
const PATIENCE = 30_000;

/**
 * A server that the tests start for themselves, and watch. What stands in for MongoDB may hang: one that takes
 * no write from a client of its own any more is replaced, and the test that it hung in is run again. That says
 * nothing of a test that fails on a server that works: only the server's own answer counts.
 */
export class WatchedServer {
  readonly #command: string;
  readonly #patience: number;
  #current: OwnServer | undefined;
  #replacing: Promise<void> | undefined;

  /**
   * @param command a command line in which `{port}` and `{path}` stand for these
   * @param patience how long it may take to answer whether it works, in milliseconds
   */
  constructor(command: string, patience = PATIENCE) {
    this.#command = command;
    this.#patience = patience;
  }

  /** Of the server that runs at present. */
  get uri(): string {
    return `mongodb://${this.#server.host}`;
  }

  get #server(): OwnServer {
    if (this.#current === undefined) throw new Error('the server is used before or after its suite');
    return this.#current;
  }

  /** With no data. */
  async start(): Promise<void> {
    const server = await new OwnServer(this.#command).reserve();
    await server.start();
    this.#current = server;
  }

  async stop(): Promise<void> {
    await this.#current?.remove();
    this.#current = undefined;
  }

  /** Has it hang. */
  freeze(): void {
    this.#server.freeze();
  }

  /** Runs a test; if it fails on a server that hangs, once more on a new one. */
  async run(test: () => unknown): Promise<void> {
    const server = this.#server;
    const over = new AbortController();
    const watching = this.#watch(server, over.signal);
    try {
      await test();
    } catch (error) {
      if (await works(server, this.#patience)) throw error;
      await this.#replace(server);
      console.warn(`      (the server hung and was replaced; run again after: ${String(error)})`);
      await test();
    } finally {
      over.abort();
      await watching;
    }
  }

  /** By being replaced the server ends what hangs in it, so that the test fails. */
  async #watch(server: OwnServer, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await delay(INTERVAL, undefined, { signal: over }).catch(() => {});
      if (!over.aborted && !(await works(server, this.#patience))) return this.#replace(server);
    }
  }

  async #replace(server: OwnServer): Promise<void> {
    if (this.#current === server) this.#replacing ??= this.start();
    await this.#replacing;
    this.#replacing = undefined;
    await server.remove();
  }
}

/** A limit of a test's time, with what it may take to find out a hanging server, and to run the test again. */
export const watchedLimit = (milliseconds: number): number =>
  milliseconds === 0 ? 0 : milliseconds * 2 + 2 * (INTERVAL + PATIENCE);

/** Whether it makes a collection, writes into it and drops it: one that hangs may still answer a `ping`. */
async function works(server: OwnServer, patience: number): Promise<boolean> {
  const client = new MongoClient(server.uri('watch'), { serverSelectionTimeoutMS: patience });
  const collection = client.db().collection(randomUUID());
  const work = async (): Promise<boolean> => {
    await collection.updateOne({}, { $set: { seen: true } }, { upsert: true });
    return collection.drop();
  };
  const over = new AbortController();
  try {
    return await Promise.race([work(), delay(patience, false, { signal: over.signal })]);
  } catch (error) {
    return error instanceof MongoServerError;
  } finally {
    over.abort();
    // Not awaited: a server that hangs is told of the end, too.
    client.close().catch(() => {});
  }
}
