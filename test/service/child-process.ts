import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RunningService } from './running-service.js';
import { removeFolders } from '../temporary-folder.js';

/** The compiled program. */
export const MAIN = fileURLToPath(new URL('../../src/bootstrap/main.js', import.meta.url));

type Environment = Readonly<Record<string, string>>;

/** A process in its own group, with only the part of the test's environment that any program needs. */
export class Child {
  static readonly #running = new Set<Child>();
  readonly process: ChildProcess;
  /** Resolves to the exit code, or to the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  out = '';
  err = '';
  #changed = Promise.withResolvers<void>();

  constructor(command: string, args: readonly string[], folder: string, environment: Environment) {
    const { PATH = '', HOME = '', NODE_V8_COVERAGE: coverage } = process.env;
    const env = { PATH, HOME, ...(coverage && { NODE_V8_COVERAGE: coverage }), ...environment };
    this.process = spawn(command, args, { cwd: folder, env, detached: true });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      this.#change();
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
      this.#change();
    });
    Child.#running.add(this);
    this.ended = once(this.process, 'close').then(([code, signal]) => {
      Child.#running.delete(this);
      return (code ?? signal) as number | string;
    });
  }

  /** Waits until the output matches `pattern`. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.out + this.err);
      if (found) return found;
      if (!Child.#running.has(this)) throw new Error(`ended without ${pattern}: ${this.err}`);
      await Promise.race([this.#changed.promise, this.ended]);
    }
  }

  /** The address of the operations, once the service is ready. */
  async ready(): Promise<string> {
    const [, url = ''] = await this.said(/ready at (http:[^\s,"]+)/);
    return url;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
    this.process.kill(signal);
    return this.ended;
  }

  /** Sends a signal to the whole group, as a terminal does for Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void {
    try {
      if (this.process.pid !== undefined) process.kill(-this.process.pid, signal);
    } catch {
      // it has ended
    }
  }

  /** Ends what a test left running. */
  static async endAll(): Promise<void> {
    for (const child of this.#running) child.signalGroup('SIGKILL');
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

process.on('exit', () => void Child.endAll());

/** Runs the program in `folder`. */
export const program = (folder: string, line: string, environment: Environment = {}): Child =>
  new Child(process.execPath, [MAIN, ...line.split(' ')], folder, environment);

/** Runs a command line of a shell in `folder`, where "$NODE" "$MAIN" is the program. */
export const shell = (folder: string, line: string, environment: Environment = {}): Child =>
  new Child('sh', ['-c', line], folder, { NODE: process.execPath, MAIN, ...environment });

/** Ends what a test left running, in this process too, and removes its folders. */
export async function cleanUp(): Promise<void> {
  await Promise.all([RunningService.stopAll(), Child.endAll()]);
  removeFolders();
}
