import { Command, CommanderError } from 'commander';
import { InvalidParameterError } from '../../domain/errors.js';
import { addBackupCommands } from './backup.js';
import * as cli from './command-line.js';
import { addCopyCommand } from './copy.js';
import { addExportCommand } from './export.js';
import { addImportCommand } from './import.js';
import { addKeyCommands } from './keys.js';
import { isLasting, isSystemError, reasonOf } from '../service/errors.js';
import { VERSION } from '../service/node-version.js';
import { refuse } from '../service/setting-values.js';
import { SETTINGS, SettingsError, readSettings } from '../service/settings.js';
import type { Adapter } from '../service/wiring.js';

/**
 * Runs a command line. What a command needs is loaded when it runs. Resolves to the exit code: 0 done, 1 failed, 2 what
 * only a person can mend, such as wrong usage or settings, 130 and 143 ended by SIGINT and SIGTERM.
 * @param adapters loaded before those of `ADAPTERS`
 */
export async function run(
  args: readonly string[],
  io: cli.HostProcess,
  adapters: readonly Adapter[] = [],
): Promise<number> {
  const commands: cli.Commands = { io, adapters };
  let exitCode = 0;
  let written: Promise<unknown> = Promise.resolve();
  const writeError = (text: string): void => cli.note(io, text.trimEnd());
  const program = new Command('animal-store')
    .description('Runs and manages an animal store.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut(text) {
        written = Promise.all([written, cli.print(io.stdout, text)]);
      },
      writeErr: writeError,
      outputError: (text, write) =>
        write(`${cli.withoutArguments(text)}To see what it takes, add --help.`),
    });
  addServeCommand(program, commands, (code) => {
    exitCode = code;
  });
  addKeyCommands(program, commands);
  addOpenApiCommand(program, commands);
  addImportCommand(program, commands);
  addExportCommand(program, commands);
  addBackupCommands(program, commands);
  addCopyCommand(program, commands);
  cli.refuseOmittedValues(program);
  try {
    if (!(await runCommand(program, args))) return 2;
    await written;
    return exitCode;
  } catch (error) {
    writeError(description(error));
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof cli.InterruptedError) return error.exitCode;
  return isLasting(error) || error instanceof InvalidParameterError ? 2 : 1;
}

/**
 * Parses the command line and runs its command. Resolves to `false` if the command line is wrong. Commander has then
 * printed why.
 */
async function runCommand(program: Command, args: readonly string[]): Promise<boolean> {
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    return true;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0;
    throw error;
  }
}

function addServeCommand(
  program: Command,
  { io, adapters }: cli.Commands,
  onExit: (code: number) => void,
): void {
  const summary = 'Runs the service until Ctrl-C or SIGTERM. Environment variables configure it.';
  const example = 'LOG_LEVEL=warn animal-store serve --port 8080 --store sqlite:animals.db';
  /** Writes an option into the environment, where `serve` reads its settings. An empty value there would count as not set. */
  const setTo = (name: string) => (text: string) => {
    io.env[name] = text || refuse('must not be empty');
  };
  cli
    .addCommand(program, 'serve', summary, example)
    .option('--host <address>', 'in place of HOST', setTo('HOST'))
    .option('--port <number>', 'in place of PORT', setTo('PORT'))
    .option('--store <url>', 'in place of STORE_URL', setTo('STORE_URL'))
    .addHelpText('after', ({ command }) => `\nEnvironment variables:\n${settingsHelp(command)}`)
    .action(async () => {
      const { serve } = await import('./serve.js');
      onExit(await serve(io, adapters));
    });
}

function addOpenApiCommand(program: Command, { io }: cli.Commands): void {
  const summary = 'Prints the OpenAPI document for the settings of serve.';
  const example = 'PUBLIC_URL=https://animals.example.org/v1 animal-store openapi';
  cli.addCommand(program, 'openapi', summary, example).action(async () => {
    const { loadOpenApiDocument } = await import('../../adapters/http/docs-routes.js');
    const settings = readSettings(io.env, OF_DOCUMENT);
    await cli.print(io.stdout, await loadOpenApiDocument(settings));
  });
}

/** The settings that the OpenAPI document shows. */
const OF_DOCUMENT = [
  'BASE_PATH',
  'PUBLIC_URL',
  'STAGING_URL',
  'BODY_LIMIT',
  'DEPRECATED_SINCE',
  'GET_PET',
  'EXPERIMENTAL',
  'RATE_LIMIT',
];

/** A table of the settings, laid out like the rest of the help. */
function settingsHelp(command: Command): string {
  const help = Object.assign(command.createHelp(), { helpWidth: 80 });
  const width = Math.max(...SETTINGS.map(({ name }) => name.length));
  const lines = SETTINGS.map(({ name, default: value, help: text }) => {
    const meaning = value ? `${text} (default: ${value})` : text;
    return help.formatItem(name, width, meaning, help);
  });
  return lines.join('\n');
}

/** One line for what a user can correct, a stack for faults of the program. */
function description(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof InvalidParameterError)
    return error.faults.map(({ field, message }) => `--${field} ${message}.`).join('\n');
  if (error instanceof SettingsError) return ['Invalid settings:', ...error.faults].join('\n  ');
  const programFaults = [TypeError, RangeError, ReferenceError];
  if (programFaults.some((kind) => error instanceof kind)) return error.stack ?? error.message;
  const callsForAddress = ['listen', 'bind', 'getaddrinfo'];
  if (isSystemError(error) && callsForAddress.includes(error.syscall ?? ''))
    return `${error.message}. Set HOST and PORT, or ADMIN_PORT, to a free address.`;
  return reasonOf(error);
}
