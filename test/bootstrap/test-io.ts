import { ContainerModule } from 'inversify';
import { EventEmitter, once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { CompleteStore, OpenOptions, Store } from '../../src/application/ports/store.js';
import type { HostProcess } from '../../src/bootstrap/commands/command-line.js';
import { run } from '../../src/bootstrap/commands/run.js';
import { TOKENS } from '../../src/bootstrap/index.js';

type Environment = Readonly<Record<string, string>>;

/** What differs from an empty process. */
interface Given {
  readonly modules?: readonly ContainerModule[];
  /** What standard input holds. */
  readonly input?: string | undefined;
  /** Whether standard output is a terminal. */
  readonly isTTY?: boolean;
}

/** A process for commands that run in the process of the tests: it keeps what they write, and takes signals. */
export class TestIo extends EventEmitter {
  readonly env: NodeJS.ProcessEnv;
  readonly exits: number[] = [];
  readonly stdin: Readable;
  readonly stdout: Writable & { isTTY?: boolean };
  readonly stderr: Writable;
  out = '';
  err = '';

  constructor(env: Environment = {}, { input = '', isTTY = false }: Given = {}) {
    super();
    this.env = { ...env };
    this.stdin = Readable.from([Buffer.from(input)]);
    this.stdout = Object.assign(this.#output('out'), { isTTY });
    this.stderr = this.#output('err');
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  /** This as a process. */
  get process(): HostProcess {
    return this as unknown as HostProcess;
  }

  /** The lines of the log so far. */
  get lines(): ReadonlyArray<Record<string, unknown>> {
    const lines = this.err.split('\n').filter((line) => line.startsWith('{'));
    return lines.map((line): Record<string, unknown> => JSON.parse(line));
  }

  /** Waits until the output matches `pattern`. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.out + this.err);
      if (found) return found;
      await once(this, 'written');
    }
  }

  #output(name: 'out' | 'err'): Writable {
    return new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        this[name] += text;
        this.emit('written');
        done();
      },
    });
  }
}

/** Runs a command line, its words separated by spaces. */
export async function runLine(line: string, env: Environment = {}, given: Given = {}) {
  const io = new TestIo(env, given);
  const code = await run(line.split(' '), io.process, given.modules);
  return { code, out: io.out, err: io.err };
}

/** A static key for services whose keys are not what the test is about. */
export const KEY = 'a-static-key-of-the-tests';

/** A service that `serve` runs in this process, on a free port. */
export class Serving {
  static readonly #running = new Set<Serving>();
  readonly io: TestIo;
  readonly code: Promise<number>;

  constructor(env: Environment, given: Given = {}) {
    this.io = new TestIo({ PORT: '0', STORE_URL: 'memory:', ...env }, given);
    this.code = run(['serve'], this.io.process, given.modules);
    void this.code.finally(() => Serving.#running.delete(this));
    Serving.#running.add(this);
  }

  /** The address of the operations, once the service has said that it is ready. */
  async ready(): Promise<string> {
    const found = await Promise.race([this.io.said(/ready at (http:[^\s,"]+)/i), this.code]);
    if (typeof found === 'number') throw new Error(`ended with ${found}: ${this.io.err}`);
    return found[1] ?? '';
  }

  stop(signal = 'SIGTERM'): Promise<number> {
    this.io.emit(signal, signal);
    return this.code;
  }

  /** Stops what a test left running. */
  static async stopAll(): Promise<void> {
    await Promise.all([...Serving.#running].map((serving) => serving.stop()));
  }
}

/** A store at `shelf:` that outlives its handles, and notes how it was opened and how often it was closed. */
export class Shelf {
  readonly data: CompleteStore = openMemoryStore();
  readonly modes: Array<OpenOptions['mode']> = [];
  closed = 0;
  readonly module: ContainerModule;

  /** @param changes parts that differ from those of a store in memory */
  constructor(changes: Partial<Store> = {}, scheme = 'shelf') {
    const open = async (_url: string, options?: OpenOptions): Promise<Store> => {
      this.modes.push(options?.mode);
      const close = async (): Promise<void> => {
        this.closed += 1;
      };
      return { ...this.data, location: `${scheme} 1`, ...changes, close };
    };
    this.module = new ContainerModule(({ bind }) => {
      bind(TOKENS.storeFactory).toConstantValue({ scheme, open });
    });
  }

  /** Runs a command line on this store. */
  run(line: string, input?: string) {
    return runLine(line, { STORE_URL: 'shelf:1' }, { modules: [this.module], input });
  }
}
