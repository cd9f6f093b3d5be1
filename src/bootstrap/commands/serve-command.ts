import type { Command } from 'commander';
import { SETTINGS, type Environment } from '../service/settings.js';
import { UsageError, addCommand, type CommandContext } from './command-context.js';

export function addServeCommand(program: Command, context: CommandContext): void {
  const summary = 'Runs the service until Ctrl-C or SIGTERM. Environment variables configure it.';
  const example = 'LOG_LEVEL=warn animal-store serve --port 8080 --store sqlite:animals.db';
  addCommand(program, 'serve', summary, example)
    .option('--host <address>', 'in place of HOST')
    .option('--port <number>', 'in place of PORT')
    .option('--store <url>', 'in place of STORE_URL')
    .addHelpText('after', settingsHelp)
    .action(async (options: ServeOptions) => {
      // Imported here, so that --help does not load the adapters.
      const { serve } = await import('./serve.js');
      await serve(context, environmentWith(options, context.io.env));
    });
}

/** The setting that each option replaces. */
const REPLACED = { host: 'HOST', port: 'PORT', store: 'STORE_URL' } as const;

type ServeOptions = { readonly [Option in keyof typeof REPLACED]?: string };

/** The environment with the options in place of variables, and of variables that name files. */
function environmentWith(options: ServeOptions, given: Environment): Environment {
  const environment = { ...given };
  for (const [option, text] of Object.entries(options)) {
    if (text === '') throw new UsageError(`--${option} must not be empty.`); // an empty variable means the default
    const name = REPLACED[option as keyof ServeOptions];
    environment[name] = text;
    delete environment[`${name}_FILE`];
  }
  return environment;
}

function settingsHelp(): string {
  const lines = SETTINGS.map(({ name, default: fallback, example, help }) => {
    const value = fallback ? `default: ${fallback}` : `such as ${example}`;
    return `  ${name.padEnd(18)} ${help} (${value})`;
  });
  const fileNote = '\n  NAME_FILE names a file that holds the value of NAME.';
  return ['\nEnvironment variables:', ...lines, fileNote].join('\n');
}
