import { Command, CommanderError } from 'commander';
import { InvalidParameterError } from '../../domain/errors.js';
import { addBackupCommands } from './backup.js';
import * as cli from './command-line.js';
import { addCopyCommand } from './copy.js';
import { addExportCommand } from './export.js';
import { addImportCommand } from './import.js';
import { addKeyCommands } from './keys.js';
import { reasonOf } from '../service/errors.js';
import { VERSION, startLine } from '../service/node-version.js';
import { list, refuse } from '../service/setting-values.js';
import { SETTINGS, SettingsError, readSettings, settingMeant } from '../service/settings.js';
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
  // Only serve has a log.
  const environment = args[0] === 'serve' ? io.env : {};
  const fail = (text: string): void =>
    void io.stderr.write(startLine(environment, 60, text.trimEnd()));
  const program = new Command('animal-store')
    .description('Runs and manages an animal store.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void (written = cli.print(io.stdout, text)),
      writeErr: fail,
      outputError: (text, write) =>
        write(`${cli.withoutArguments(text)}${settingFor(text)}To see what it takes, add --help.`),
    });
  const serving = 'Runs the service until Ctrl-C or SIGTERM. Environment variables configure it.';
  const example = 'LOG_LEVEL=warn animal-store serve --port 8080 --store sqlite:animals.db';
  // An empty value would count as not set.
  const chosen = (name: string) => (text: string) => {
    io.env[name] = text || refuse('must not be empty');
  };
  cli
    .addCommand(program, 'serve', serving, example)
    .option('--host <address>', 'in place of HOST', chosen('HOST'))
    .option('--port <number>', 'in place of PORT', chosen('PORT'))
    .option('--store <url>', 'in place of STORE_URL', chosen('STORE_URL'))
    .addHelpText('after', ({ command }) => `\nEnvironment variables:\n${settingsHelp(command)}`)
    .action(async () => {
      const { serve } = await import('./serve.js');
      exitCode = await serve(io, adapters);
    });
  addKeyCommands(program, commands);
  const printing = 'PUBLIC_URL=https://animals.example.org/v1 animal-store openapi';
  cli
    .addCommand(
      program,
      'openapi',
      'Prints the OpenAPI document for the settings of serve.',
      printing,
    )
    .action(async () => {
      const { loadOpenApiDocument } = await import('../../adapters/http/docs-routes.js');
      await cli.print(io.stdout, await loadOpenApiDocument(readSettings(io.env, OF_DOCUMENT)));
    });
  addImportCommand(program, commands);
  addExportCommand(program, commands);
  addBackupCommands(program, commands);
  addCopyCommand(program, commands);
  cli.refuseRepeated(program);
  try {
    cli.refuseRemoved(args);
    try {
      await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.exitCode !== 0) return 2; // it was printed already
    }
    await written;
    return exitCode;
  } catch (error) {
    fail(description(error));
    if (error instanceof cli.InterruptedError) return error.exitCode;
    const wrong = [SettingsError, cli.UsageError, InvalidParameterError];
    return Object(error).isLasting || wrong.some((kind) => error instanceof kind) ? 2 : 1;
  }
}

/** For the message of commander about an unknown option: the setting that was meant. */
function settingFor(message: string): string {
  const [, option = ''] = /unknown option '--([\w-]+)/.exec(message) ?? [];
  const meant = settingMeant(option.replaceAll('-', '_'));
  return meant === undefined ? '' : `The setting ${meant} is an environment variable.\n`;
}

/** The settings that the OpenAPI document shows. */
const OF_DOCUMENT = list(
  'BASE_PATH,PUBLIC_URL,STAGING_URL,BODY_LIMIT,DEPRECATED_SINCE,GET_PET,EXPERIMENTAL,RATE_LIMIT',
);

/** A table of the settings, laid out like the rest of the help. */
function settingsHelp(command: Command): string {
  const help = Object.assign(command.createHelp(), { helpWidth: 80 });
  const width = Math.max(...SETTINGS.map(({ name }) => name.length));
  return SETTINGS.map(({ name, default: value, help: text }) =>
    help.formatItem(name, width, value ? `${text} (default: ${value})` : text, help),
  ).join('\n');
}

/** One line for what a user can correct, a stack for faults of the program. */
function description(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof InvalidParameterError)
    return error.faults.map(({ field, message }) => `--${field} ${message}.`).join('\n');
  if (error instanceof SettingsError) return ['Invalid settings:', ...error.faults].join('\n  ');
  const isProgramFault = [TypeError, RangeError, ReferenceError].some(
    (kind) => error instanceof kind,
  );
  if (isProgramFault) return error.stack ?? error.message;
  const isAddress =
    'syscall' in error && ['listen', 'bind', 'getaddrinfo'].includes(String(error.syscall));
  return isAddress
    ? `${error.message}. Set HOST and PORT, or ADMIN_PORT, to a free address.`
    : reasonOf(error);
}
