import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { OpenOptions, Store, StoreFactory } from '../../src/application/ports/store.js';
import type { HostProcess } from '../../src/bootstrap/commands/command-line.js';
import { run } from '../../src/bootstrap/commands/run.js';
import { TOKENS, type Adapter, type Wiring } from '../../src/bootstrap/service/wiring.js';

/** A process for commands that run in the process of the tests: it keeps what they write, and takes signals. */
export class TestIo extends EventEmitter {
  readonly env: NodeJS.ProcessEnv;
  out = '';
  err = '';
  readonly exits: number[] = [];
  readonly stdin: Readable;
  readonly stdout = {
    write: (text: string, written?: (error?: Error) => void) => {
      if (this.fullDisk === undefined) this.#write('out', text);
      written?.(this.fullDisk);
    },
  };
  /** With what writing to standard output fails. */
  fullDisk: Error | undefined;
  readonly stderr;

  constructor(env: Record<string, string> = {}, { isTTY = false, stdin = [''] } = {}) {
    super();
    this.stdin = Readable.from(stdin.map((chunk) => Buffer.from(chunk)));
    this.env = env;
    this.stderr = {
      write: (text: string, written?: () => void): void => {
        this.#write('err', text);
        written?.();
      },
      isTTY,
      columns: 80,
    };
  }

  exit(code: number): number {
    this.exits.push(code);
    return code;
  }

  /** This as a process. */
  get io(): HostProcess {
    return this as unknown as HostProcess;
  }

  /** The messages of the log lines so far. */
  get messages(): string[] {
    return this.lines.map(({ msg }) => String(msg));
  }

  /** The log lines so far. */
  get lines(): Array<Record<string, unknown>> {
    return this.err
      .trimEnd()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));
  }

  /** Waits until something was written to stderr. Rejects after a while, with what was written. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(15_000);
    for (;;) {
      const found = pattern.exec(this.err);
      if (found) return found;
      await once(this, 'written', { signal }).catch(() => {
        throw new Error(`waited too long for ${pattern} on stderr, which has:\n${this.err}`);
      });
    }
  }

  #write(stream: 'out' | 'err', text: string): void {
    this[stream] += text;
    this.emit('written');
  }
}

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line, its words separated by spaces. */
export async function runLine(
  line: string,
  env: Record<string, string> = {},
  modules: readonly Adapter[] = [],
): Promise<Outcome> {
  const io = new TestIo(env);
  const code = await run(line === '' ? [] : line.split(' '), io.io, modules);
  return { code, out: io.out, err: io.err };
}

/** A static key for services whose keys are not what the test is about. */
export const KEY = 'a-static-key-of-the-tests';

/** A service that `serve` runs in this process, on a free port. */
export class Serving {
  static readonly #running = new Set<Serving>();
  readonly io: TestIo;
  readonly code: Promise<number>;

  constructor(environment: Record<string, string>, ...modules: readonly Adapter[]) {
    this.io = new TestIo({ PORT: '0', ...environment });
    this.code = run(['serve'], this.io.io, modules).finally(() => Serving.#running.delete(this));
    Serving.#running.add(this);
  }

  /** The address of the operations, once the service is ready. */
  async ready(): Promise<string> {
    const found = await Promise.race([this.io.said(/ready at (http:[^\s,]+)/), this.code]);
    if (typeof found === 'number') throw new Error(`ended with ${found}: ${this.io.err}`);
    return found[1] ?? '';
  }

  stop(signal = 'SIGTERM'): Promise<number> {
    this.io.emit(signal, signal);
    return this.code;
  }

  /** Stops what tests left running. */
  static async stopAll(): Promise<void> {
    await Promise.all([...Serving.#running].map((serving) => serving.stop()));
  }
}

/** A module that brings a store factory. */
export const factory =
  (scheme: string, open: StoreFactory['open']): Adapter =>
  ({ bind }: Wiring) =>
    bind(TOKENS.storeFactory, { scheme, open });

/** A store at `shelf:` that outlives its handles, and notes how it was opened and how often it was closed. */
export class Shelf {
  readonly opened: Array<OpenOptions | undefined> = [];
  closed = 0;
  readonly module: Adapter;

  constructor(store: Partial<Store> = {}, scheme = 'shelf') {
    const data = openMemoryStore();
    this.module = factory(scheme, async (_, options) => {
      this.opened.push(options);
      const close = async (): Promise<void> => {
        await nextTurn(); // as a store that has something to finish
        this.closed += 1;
      };
      return { ...data, location: `${scheme} 1`, ...store, close };
    });
  }
}

/** An object some of whose methods are replaced. `changes` may change later. */
export const changed = <T extends object>(inner: T, changes: Partial<T>): T =>
  new Proxy(inner, {
    get(_, name) {
      const value: unknown = Reflect.get(name in changes ? changes : inner, name);
      return typeof value === 'function' ? value.bind(inner) : value;
    },
  });
