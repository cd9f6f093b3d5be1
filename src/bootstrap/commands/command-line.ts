import type { Command } from 'commander';
import { constants } from 'node:os';
import { stringifyJson } from '../../exact-json.js';
import type { Adapter } from '../service/wiring.js';

/** What a command uses of its process. Only the result of a command goes to stdout. */
export type HostProcess = Pick<
  NodeJS.Process,
  'env' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'off' | 'exit'
>;

export interface Commands {
  readonly io: HostProcess;
  /** Loaded before those of `ADAPTERS`. */
  readonly adapters: readonly Adapter[];
}

/** The command line was wrong. */
export class UsageError extends Error {
  readonly isLasting = true;
}

/** A signal stopped the command, which cleaned up. */
export class InterruptedError extends Error {
  readonly signal: NodeJS.Signals;
  /** 128 plus the number of the signal, as shells have it: 130 for Ctrl-C. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}.`);
    this.signal = signal;
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Runs `work` with a signal that SIGINT and SIGTERM abort, with an `InterruptedError` as the reason. A second one ends
 * the process at once. It is ignored within a second of the first: when npm started the program, one Ctrl-C arrives twice.
 */
export async function interruptible<T>(
  io: HostProcess,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    const error = new InterruptedError(name);
    if (firstAt === undefined) {
      firstAt = performance.now();
      stop.abort(error);
    } else if (performance.now() >= firstAt + 1000) {
      io.exit(error.exitCode);
    }
  };
  io.on('SIGINT', onSignal);
  io.on('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    io.off('SIGINT', onSignal);
    io.off('SIGTERM', onSignal);
  }
}

/**
 * A message of commander without the arguments that it quotes: they may be keys. The name of an unknown command or option
 * stays, if it has letters and hyphens only. Commander writes, each with a line end:
 * - `error: unknown option 'ARGUMENT'`
 * - `error: option '--port <number>' argument 'ARGUMENT' is invalid. must be ...`
 * - `error: too many arguments for 'serve'. Expected 0 arguments but got 1: ARGUMENT.`
 */
export function withoutArguments(message: string): string {
  return message
    .replace(/(unknown (?:command|option)) '(?!-{0,2}[a-z][a-z-]*'\n)[^]*?'(?=\n)/i, '$1')
    .replace(/ argument '[^]*' is invalid\./, '')
    .replace(/ but got (\d+): [^]*/, ' but got $1.\n');
}

/**
 * Lets a command and its subcommands refuse an option whose value was omitted. Commander would take the next option for
 * the value.
 */
export function refuseOmittedValues(command: Command): void {
  for (const option of command.options) {
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (value?.startsWith('--')) throw new UsageError(`${option.long} has no value.`);
    });
  }
  command.commands.forEach(refuseOmittedValues);
}

/** Adds a command, with an example that works when pasted. */
export const addCommand = (
  parent: Command,
  name: string,
  summary: string,
  example: string,
): Command =>
  parent.command(name).description(summary).addHelpText('after', `\nExample:\n  ${example}`);

/** The option of commands whose result machines may read. */
export const JSON_OPTION = ['--json', 'print JSON, for machines'] as const;

/** The result of a command as JSON or, for people, as lines. */
export const resultText = (json: true | undefined, result: object, lines: readonly string[]) =>
  json ? `${stringifyJson(result)}\n` : lines.map((line) => `${line}\n`).join('');

/**
 * Writes the result of a command to standard output. A reader that has closed the pipe wants no more: that is no failure.
 * Resolves to whether somebody still reads.
 * @throws {Error} it could not be written, for example because the disk is full.
 */
export function print(stream: NodeJS.WriteStream, text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stream.write(text, (cause?: NodeJS.ErrnoException | null) => {
      if (!cause) resolve(true);
      else if (cause.code === 'EPIPE') resolve(false);
      else reject(new Error('Standard output cannot be written.', { cause }));
    });
  });
}

/**
 * Prints the result of a command that has changed something. If that fails, prints it on stderr as well: the work is
 * done, and running the command again may do it twice.
 */
export async function printResult({ stdout, stderr }: HostProcess, text: string): Promise<void> {
  try {
    await print(stdout, text);
  } catch (error) {
    stderr.write(text);
    throw error;
  }
}

/** U+FFFD replaces what a terminal would obey: control characters, also of text direction. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd').toWellFormed();
}

/** Prints a line that is not the result of a command. */
export function note({ stderr }: HostProcess, line: string): void {
  stderr.write(`${line}\n`);
}
