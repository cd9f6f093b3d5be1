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
  /** The version that Node.js is to say it has; its own when left out. */
  readonly nodeVersion?: string;
}

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The options by which Node.js says that it has another version. */
const pretending = (version: string): string[] => [
  '--import',
  `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '${version}' });`,
];

/** The program as people run it: a process of its own. What Node.js 22 says about node:sqlite is left out. */
export class Program {
  out = '';
  err = '';
  readonly ended: Promise<Outcome>;
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;

  constructor(args: readonly string[], { folder, environment, nodeVersion }: ProgramOptions) {
    const { NODE_V8_COVERAGE: coverage } = process.env;
    this.#process = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        ...(nodeVersion === undefined ? [] : pretending(nodeVersion)),
        MAIN,
        ...args,
      ],
      {
        cwd: folder,
        env: { ...(coverage && { NODE_V8_COVERAGE: coverage }), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A test that failed leaves nothing running.
        timeout: 15_000,
        killSignal: 'SIGKILL',
      },
    );
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.ended = once(this.#process, 'close').then(([code]: Array<number | null>) => {
      return { code: code ?? null, out: this.out, err: this.err };
    });
  }

  /** The address of the operations, once it serves. */
  async ready(): Promise<string> {
    const [, url = ''] = await this.said(/ready at (http:[^\s,]+)/);
    return url;
  }

  /** Waits until something was said on stderr. */
  said(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#find(pattern, this.#process.stderr, () => this.err);
  }

  /** Waits until something was printed on stdout. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#find(pattern, this.#process.stdout, () => this.out);
  }

  async #find(pattern: RegExp, stream: Readable, text: () => string): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(text());
      if (found !== null) return found;
      if (stream.readableEnded) throw new Error(`the program ended without ${pattern}:\n${this.err}`);
      await Promise.race([once(stream, 'data'), this.ended]);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.signal(signal);
    return this.ended;
  }
}

export const runProgram = (args: readonly string[], options: ProgramOptions): Promise<Outcome> =>
  new Program(args, options).ended;
