import { Command, CommanderError } from 'commander';
import type { ContainerModule } from 'inversify';
import { reasonOf } from '../service/errors.js';
import { VERSION } from '../service/version.js';
import { addBackupCommands } from './backup.js';
import { note, type CommandContext, type HostProcess } from './command-context.js';
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
    if (error instanceof CommanderError) return report(error, io);
    note(io, messageOf(error));
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
      outputError: () => {}, // printed below, without arguments
    });
  addServeCommand(program, context);
  addKeyCommands(program, context);
  addImportCommand(program, context);
  addExportCommand(program, context);
  addBackupCommands(program, context);
  addCopyCommand(program, context);
  return program;
}

/** Prints an error of the command line. Returns the exit code. Commander throws one after help and the version, too. */
function report(error: CommanderError, io: HostProcess): number {
  if (error.exitCode === 0) return 0;
  const isHelp = error.code === 'commander.help'; // a command was given without its subcommand
  if (!isHelp) note(io, `${unquoted(error)}. Add --help to see the arguments and options.`);
  return 2;
}

/** The messages of commander that quote an argument, without it: it may be a key. */
const UNQUOTED: Readonly<Record<string, string>> = {
  'commander.unknownCommand': 'error: unknown command',
  'commander.unknownOption': 'error: unknown option',
  'commander.excessArguments': 'error: too many arguments',
};

function unquoted({ code, message }: CommanderError): string {
  const short = UNQUOTED[code];
  if (short === undefined) return message;
  const [suggestion] = /\(Did you mean .*\)$/.exec(message) ?? [];
  return suggestion === undefined ? short : `${short} ${suggestion}`;
}

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
function messageOf(error: unknown): string {
  const isBug = [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind);
  if (isBug) return String((error as Error).stack);
  const { syscall = '', message } = Object(error) as NodeJS.ErrnoException;
  if (['listen', 'bind', 'getaddrinfo'].includes(syscall))
    return `${message}. Set HOST or PORT, or ADMIN_PORT, to a free address.`;
  return isPermanent(error) ? message : reasonOf(error);
}
