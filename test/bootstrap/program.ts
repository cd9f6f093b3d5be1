import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Readable } from 'node:stream';

const MAIN = fileURLToPath(new URL('../../src/bootstrap/main.js', import.meta.url));

export interface ProgramOptions {
  /** The working directory. */
  readonly folder: string;
  /** Its settings; nothing of the test's own environment gets in. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The program as people run it: a process of its own. */
export class Program {
  out = '';
  err = '';
  readonly ended: Promise<Outcome>;
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;

  constructor(args: readonly string[], { folder, environment }: ProgramOptions) {
    const { NODE_V8_COVERAGE: coverage } = process.env;
    this.#process = spawn(process.execPath, [MAIN, ...args], {
      cwd: folder,
      env: { ...(coverage && { NODE_V8_COVERAGE: coverage }), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.ended = once(this.#process, 'close').then(([code]: Array<number | null>) => {
      return { code: code ?? null, out: this.out, err: this.err };
    });
  }

  /** The address of the operations, once it serves. */
  async ready(): Promise<string> {
    let gone = false;
    void this.ended.then(() => (gone = true));
    for (;;) {
      const url = /ready at (http:[^\s,]+)/.exec(this.err)?.[1];
      if (url !== undefined) return url;
      if (gone) throw new Error(`the program ended before it served:\n${this.err}`);
      await Promise.race([once(this.#process.stderr, 'data'), this.ended]);
    }
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.#process.kill(signal);
    return this.ended;
  }
}

export const runProgram = (args: readonly string[], options: ProgramOptions): Promise<Outcome> =>
  new Program(args, options).ended;
