import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { KEY, Serving } from '../bootstrap/test-io.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';

/** The compiled program. */
export const MAIN = fileURLToPath(new URL('../../src/bootstrap/main.js', import.meta.url));

/** The folder of this package, where npm finds its scripts. */
export const PACKAGE = fileURLToPath(new URL('../../..', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

type Environment = Readonly<Record<string, string>>;

/** Kills the process groups that are still in its list when its input ends, which is when this process has died. */
const GUARDIAN = `
  const groups = new Set();
  require('node:readline').createInterface({ input: process.stdin })
    .on('line', (line) => { if (!groups.delete(line)) groups.add(line); })
    .on('close', () => { for (const group of groups) try { process.kill(-group, 'SIGKILL'); } catch {} });`;

/** A process with only the part of the test's environment that any program needs. */
export class Child {
  static readonly #running = new Set<Child>();
  static #guardian: ChildProcessByStdio<Writable, null, null> | undefined;

  /** Adds a process group to the list of the guardian, or removes it. A run of tests that is killed leaves no services. */
  static #toggle(group: number | undefined): void {
    if (this.#guardian === undefined) {
      const stdio = ['pipe', 'ignore', 'ignore'] as const;
      // Of a group of its own: a signal to that of the tests must not end it.
      this.#guardian = spawn(process.execPath, ['-e', GUARDIAN], {
        stdio: [...stdio],
        detached: true,
      });
      this.#guardian.unref();
      (this.#guardian.stdin as Socket).unref();
    }
    if (group !== undefined) this.#guardian.stdin.write(`${group}\n`);
  }

  out = '';
  err = '';
  readonly ended: Promise<Outcome>;
  readonly process: ChildProcessByStdio<null, Readable, Readable>;

  constructor(command: string, args: readonly string[], folder: string, environment: Environment) {
    const { PATH = '', HOME = '', NODE_V8_COVERAGE: coverage } = process.env;
    this.process = spawn(command, args, {
      cwd: folder,
      env: { PATH, HOME, ...(coverage && { NODE_V8_COVERAGE: coverage }), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a process group, so that it can be ended with all that it started
    });
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    const { pid } = this.process;
    Child.#running.add(this);
    Child.#toggle(pid);
    this.ended = once(this.process, 'close').then((ending) => {
      const [code, signal] = ending as [code: number | null, signal: NodeJS.Signals | null];
      Child.#running.delete(this);
      Child.#toggle(pid);
      return { code, signal, out: this.out, err: this.err };
    });
  }

  /** Ends whatever tests left running. */
  static async endAll(): Promise<void> {
    await Promise.all(
      [...this.#running].map((child) => {
        try {
          if (child.process.pid !== undefined) process.kill(-child.process.pid, 'SIGKILL');
        } catch {
          // it ended just now
        }
        return child.ended;
      }),
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.signal(signal);
    return this.ended;
  }

  /** Waits until something was said on stderr. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.err);
      if (found !== null) return found;
      if (this.process.stderr.readableEnded)
        throw new Error(`the program ended without ${pattern}:\n${this.err}`);
      await Promise.race([once(this.process.stderr, 'data'), this.ended]);
    }
  }

  /** The address of the operations, once the service is ready. */
  async ready(): Promise<string> {
    const [, url = ''] = await this.said(/ready at (http:[^\s,]+)/);
    return url;
  }
}

/** Runs the program in `folder`. */
export const program = (
  folder: string,
  args: readonly string[],
  environment: Environment = {},
): Child => new Child(process.execPath, [MAIN, ...args], folder, environment);

/** Runs a command line of a shell in `folder`, where "$NODE" "$MAIN" is the program. */
export const shellLine = (folder: string, line: string, environment: Environment = {}): Child =>
  new Child('sh', ['-c', line], folder, { NODE: process.execPath, MAIN, ...environment });

/** Runs the service in `folder`, on a free port, with a static key unless `settings` say otherwise. */
export async function startedService(
  folder: string,
  settings: Environment = {},
): Promise<{ readonly child: Child; readonly url: string }> {
  const child = program(folder, ['serve'], { PORT: '0', API_KEYS: KEY, ...settings });
  return { child, url: await child.ready() };
}

/** Ends what a test left running, in this process too, and removes its folders. */
export async function cleanUp(): Promise<void> {
  const ends = [Serving.stopAll(), Child.endAll()];
  await Promise.allSettled(ends).then(removeFolders);
  await Promise.all(ends);
}

export { temporaryFolder };
