import type { ContainerModule } from 'inversify';
import { EventEmitter, once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import type { HostProcess } from '../../src/bootstrap/commands/command-context.js';
import { run } from '../../src/bootstrap/commands/command-line.js';

export type Environment = Readonly<Record<string, string>>;

/** What a command gets beside its words and environment. Default: nothing. */
export interface Given {
  readonly modules?: readonly ContainerModule[];
  /** What standard input holds. */
  readonly input?: string | undefined;
  /** Whether standard output is a terminal. */
  readonly isTTY?: boolean;
}

/** Stands for a process: commands run in that of the tests. It keeps what they write, and takes signals. */
export class FakeProcess extends EventEmitter {
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

  /** Runs a command in this process. Resolves to its exit code. */
  run(words: readonly string[], modules?: readonly ContainerModule[]): Promise<number> {
    return run(words, this as unknown as HostProcess, modules);
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
  const fake = new FakeProcess(env, given);
  const code = await fake.run(line.split(' '), given.modules);
  return { code, out: fake.out, err: fake.err };
}
