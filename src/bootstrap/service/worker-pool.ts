import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RateLimiter } from '../../adapters/http/rate-limiter.js';
import { Channel } from './channel.js';
import { handOnUntaken } from './untaken-connections.js';
import { memoryRateLimiter } from './memory-rate-limiter.js';
import { logSink } from './logger.js';
import type { Environment, Settings } from './settings.js';

/** Marks a worker of this program: another primary of node:cluster, such as PM2, may start it too. */
export const WORKER = 'ANIMAL_STORE_WORKER';

/** This many deaths in this time, in milliseconds, end the service. */
const MOST_DEATHS = 5;
const DEATHS_WITHIN = 10_000;
/** The wait before the second replacement of that time, in milliseconds; each later one takes twice as long. */
const FIRST_WAIT = 250;
/** How much longer than its deadline a worker may take to stop, in milliseconds. */
const STOP_GRACE = 1000;

/** A worker ended before it was ready. If it has an exit code, it has printed why. */
export class StartError extends Error {
  readonly exitCode: number | null;

  constructor(how: string, exitCode: number | null) {
    super(`a new worker did not start (${how})`);
    this.exitCode = exitCode;
  }
}

/** Where the pool gets its variables, and what its workers print goes to. */
interface Surroundings {
  readonly env: Environment;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

interface Entry {
  state: 'starting' | 'ready' | 'leaving';
  readonly channel: Channel;
}

/**
 * The workers: processes that run the service on one port. This process accepts their connections and hands them out
 * in turn.
 */
export class WorkerPool {
  /** Rejects when workers die too often. */
  readonly failed: Promise<never>;
  readonly #fail: (reason: Error) => void;
  readonly #settings: Settings;
  readonly #environment: Environment;
  readonly #surroundings: Surroundings;
  readonly #logger: Logger;
  readonly #limiter: RateLimiter | undefined;
  readonly #workers = new Map<Worker, Entry>();
  #deaths: number[] = [];
  #isStopping = false;
  /** The old worker whose successor starts. If it dies meanwhile, nothing else replaces it. */
  #outgoing: Worker | undefined;

  constructor(settings: Settings, surroundings: Surroundings, logger: Logger) {
    const { promise, reject } = Promise.withResolvers<never>();
    [this.failed, this.#fail] = [promise, reject];
    promise.catch(() => {});
    this.#settings = settings;
    this.#logger = logger;
    this.#surroundings = surroundings;
    this.#environment = { ...surroundings.env, WORKERS: String(settings.workers), [WORKER]: '1' };
    this.#limiter = settings.rateLimit && memoryRateLimiter(settings.rateLimit);
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({
      // Under the permission model only this process, which reads no requests, may start others.
      execArgv: process.execArgv.filter((flag) => flag !== '--allow-child-process'),
      // Node.js makes a stderr that processes share block when one of them starts or ends. A reader that has stopped
      // would then hold all of them.
      silent: !surroundings.stderr.isTTY,
    });
  }

  /** The channels to the workers that are ready. */
  get channels(): readonly Channel[] {
    return [...this.#workers.values()].flatMap(({ state, channel }) => (state === 'ready' ? channel : []));
  }

  /**
   * Starts one worker, which creates the store and the first key, then the others. Resolves to what the first reports.
   * @throws {StartError}
   */
  async start(): Promise<unknown> {
    const report = await this.#start();
    await Promise.all(Array.from({ length: this.#settings.workers - 1 }, () => this.#start()));
    return report;
  }

  /** Replaces every worker, one after the other. Keeps the others if a new one does not start. */
  async replaceAll(): Promise<void> {
    if (this.#isStopping) return;
    this.#logger.info('replacing the workers');
    const present = [...this.#workers];
    for (const [old, entry] of present) {
      if (entry.state !== 'ready' || !this.#workers.has(old)) continue;
      this.#outgoing = old;
      try {
        await this.#start();
      } catch (error) {
        if (this.#isStopping) return;
        const { message } = error as Error;
        if (!this.#workers.has(old)) return this.#replace(message);
        return this.#logger.error(`${message}, the old ones go on`);
      } finally {
        this.#outgoing = undefined;
      }
      if (this.#isStopping) return;
      if (!this.#workers.has(old)) continue;
      entry.state = 'leaving';
      void entry.channel.ask('leave');
      await this.#endOf(old);
    }
    this.#logger.info('replaced the workers');
  }

  /** Stops all workers. Resolves to whether all of them stopped in time, without cutting off a request. */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    const ends = [...this.#workers].map(async ([worker, { state }]) => {
      worker.process.kill(state === 'starting' ? 'SIGKILL' : 'SIGTERM');
      return (await this.#endOf(worker)) === 0 || state === 'starting';
    });
    return (await Promise.all(ends)).every(Boolean);
  }

  /** Resolves to the report of a new worker once it listens. */
  #start(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const worker = cluster.fork(this.#environment);
      worker.once('error', ({ message }: Error) => reject(new StartError(message, null)));
      if (worker.process.pid === undefined) return; // such as ENOENT or EMFILE
      handOnUntaken(worker);
      const { stdout, stderr } = this.#surroundings;
      worker.process.stdout?.on('data', (chunk: Buffer) => stdout.write(chunk));
      if (worker.process.stderr) handOnLines(worker.process.stderr, logSink(stderr));
      const ready = (report: unknown): void => {
        entry.state = 'ready';
        resolve(report);
      };
      const take = (keyId: string) => this.#limiter?.take(keyId);
      const entry: Entry = { state: 'starting', channel: new Channel(worker, { take, ready }) };
      this.#workers.set(worker, entry);
      // It has ended, and what it printed was read.
      worker.process.once('close', (code: number | null, signal: string | null) => {
        this.#workers.delete(worker);
        const how = signal ?? `exit code ${code}`;
        reject(new StartError(how, code));
        if (entry.state !== 'ready' || this.#isStopping) return;
        const died = `a worker died (${how})`;
        if (worker === this.#outgoing) this.#logger.error(`${died}, its successor starts already`);
        else void this.#replace(died);
      });
    });
  }

  async #replace(what: string): Promise<void> {
    const now = performance.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATHS_WITHIN), now];
    const deaths = this.#deaths.length;
    if (deaths === MOST_DEATHS) {
      return this.#fail(new Error(`${what}: ${deaths} deaths within ${DEATHS_WITHIN / 1000} seconds`));
    }
    this.#logger.error(`${what}, another starts`);
    if (deaths > 1) await delay(FIRST_WAIT * 2 ** (deaths - 2), undefined, { ref: false });
    if (this.#isStopping) return;
    try {
      await this.#start();
    } catch (error) {
      if (!this.#isStopping) await this.#replace((error as Error).message);
    }
  }

  /** Resolves to the exit code of a worker that stops. */
  async #endOf(worker: Worker): Promise<number | null> {
    const { drainDelay, shutdownDeadline } = this.#settings;
    const kill = (): void => void worker.process.kill('SIGKILL');
    const timer = setTimeout(kill, drainDelay + shutdownDeadline + STOP_GRACE);
    const [code] = (await once(worker.process, 'close')) as [number | null];
    clearTimeout(timer);
    return code;
  }
}

/** Hands on whole lines, so that those of two workers do not mix. */
function handOnLines(from: Readable, to: ReturnType<typeof logSink>): void {
  let begun = '';
  from.setEncoding('utf8').on('data', (text: string) => {
    begun += text;
    const end = begun.lastIndexOf('\n') + 1;
    if (end > 0) to.write(begun.slice(0, end));
    begun = begun.slice(end);
  });
  from.on('end', () => begun && to.write(`${begun}\n`));
}
