import { Command, CommanderError } from 'commander';
import type { ContainerModule } from 'inversify';
import { reasonOf } from '../service/errors.js';
import { VERSION } from '../service/version.js';
import { addBackupCommands } from './backup.js';
import { note, type CommandContext, type HostProcess } from './command-line.js';
import { addCopyCommand } from './copy.js';
import { addExportCommand } from './export.js';
import { addImportCommand } from './import.js';
import { addKeyCommands } from './keys.js';
import { addServeCommand } from './serve-command.js';

/**
 * Runs a command line. Resolves to the exit code: 0 done, 1 failed, 2 the user must correct something, such as
 * arguments or settings, 130 interrupted. The first SIGINT or SIGTERM stops `serve` in order, and aborts what can be
 * aborted of other commands. Another one, at least a second later, ends the process at once.
 * @param modules to load before those of `ADAPTERS`
 */
export async function run(
  args: readonly string[],
  io: HostProcess,
  modules: readonly ContainerModule[] = [],
): Promise<number> {
  const stop = new AbortController();
  let firstAt: number | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      stop.abort(new Error(`Interrupted by ${name}.`));
    } else if (performance.now() >= firstAt + 1000) {
      io.exit(130); // within a second it may be the same Ctrl-C: npm delivers it twice
    }
  };
  io.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const program = programOf({ io, modules, signal: stop.signal });
    await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed why.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    note(io, textOf(error));
    if (stop.signal.aborted && isCausedBy(error, stop.signal.reason)) return 130;
    return isPermanent(error) ? 2 : 1;
  } finally {
    io.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

function programOf(context: CommandContext): Command {
  const { io } = context;
  const program = new Command('animal-store')
    .description('Runs and manages an animal store.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => note(io, text.trimEnd()),
      outputError: (text, write) =>
        write(`${withoutArguments(text)}Add --help to see the arguments and options.`),
    });
  addServeCommand(program, context);
  addKeyCommands(program, context);
  addImportCommand(program, context);
  addExportCommand(program, context);
  addBackupCommands(program, context);
  addCopyCommand(program, context);
  return program;
}

/**
 * A message of commander without the arguments that it quotes: they may be keys. The name of an unknown command or
 * option stays, if it has letters and hyphens only. Commander's messages, each with a line end:
 * - `error: unknown option 'ARGUMENT'`
 * - `error: option '--port <number>' argument 'ARGUMENT' is invalid. must be ...`
 * - `error: too many arguments for 'serve'. Expected 0 arguments but got 1: ARGUMENT.`
 */
const withoutArguments = (message: string): string =>
  message
    .replace(/(unknown (?:command|option)) '(?!-{0,2}[a-z][a-z-]*'\n)[^]*?'(?=\n)/i, '$1')
    .replace(/ argument '[^]*' is invalid\./, '')
    .replace(/ but got (\d+): [^]*/, ' but got $1.\n');

/** Whether an error is this one, or was caused by it. */
function isCausedBy(error: unknown, reason: unknown): boolean {
  const { cause } = Object(error) as Partial<Error>;
  return error === reason || (cause !== undefined && isCausedBy(cause, reason));
}

/** Whether a retry cannot succeed: a permanent error, or a wrong name or scope of a new key. */
const isPermanent = (error: unknown): boolean =>
  Object(error).isPermanent === true || Object(error).code === 'invalid_parameter';

/**
 * What to print: the stack of a bug; advice for an address that is in use; a permanent error as it is, with its line
 * breaks; any other error with its causes in one line.
 */
function textOf(error: unknown): string {
  const isBug = [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind);
  if (isBug) return String((error as Error).stack);
  const { syscall = '', message } = error as NodeJS.ErrnoException;
  if (['listen', 'bind', 'getaddrinfo'].includes(syscall))
    return `${message}. Set HOST or PORT, or ADMIN_PORT, to a free address.`;
  return isPermanent(error) ? message : reasonOf(error);
}
