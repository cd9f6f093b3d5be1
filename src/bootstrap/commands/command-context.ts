import type { Command } from 'commander';
import type { ContainerModule } from 'inversify';

/** What a command uses of its process. Only the result of a command goes to stdout. */
export type HostProcess = Pick<
  NodeJS.Process,
  'env' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'off' | 'exit'
>;

/** What every command gets. */
export interface CommandContext {
  readonly io: HostProcess;
  /** Modules to load before those of `ADAPTERS`. */
  readonly modules: readonly ContainerModule[];
  /** SIGINT and SIGTERM abort it. */
  readonly signal: AbortSignal;
}

/** An error that the user must correct: in the arguments, a file or the environment. */
export class UsageError extends Error {
  readonly isPermanent = true;
}

/** Adds a command, with an example that works when pasted. */
export const addCommand = (
  parent: Command,
  name: string,
  summary: string,
  example: string,
): Command =>
  parent.command(name).description(summary).addHelpText('after', `\nExample:\n  ${example}`);

/**
 * Writes the result of a command to standard output.
 * @throws {Error} it could not be written, for example because the disk is full.
 */
export function print({ stdout }: HostProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Prints lines that are not the result of a command. U+FFFD replaces control characters, which a terminal would obey:
 * the lines may quote a file.
 */
export function note({ stderr }: HostProcess, lines: string): void {
  const controls = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
  stderr.write(`${lines.replaceAll(controls, '\ufffd')}\n`);
}

/** The error for a file that cannot be used, in the words of Node.js, without the path: it may be a key, by mistake. */
export function fileError(what: string, { message }: Error): UsageError {
  return new UsageError(`${what} (${message.split(',', 1)[0]}).`);
}
