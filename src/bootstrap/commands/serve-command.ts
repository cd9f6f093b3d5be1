import type { Command } from 'commander';
import { refuse } from '../service/setting-readers.js';
import { SETTINGS } from '../service/settings.js';
import { addCommand, type CommandContext } from './command-line.js';

export function addServeCommand(program: Command, context: CommandContext): void {
  const summary = 'Runs the service until Ctrl-C or SIGTERM. Environment variables configure it.';
  const example = 'LOG_LEVEL=warn animal-store serve --port 8080 --store sqlite:animals.db';
  const environment = { ...context.io.env };
  /** Lets an option replace a variable. */
  const setTo = (name: string) => (text: string) => {
    environment[name] = text || refuse('must not be empty'); // an empty variable would mean the default
    delete environment[`${name}_FILE`];
  };
  addCommand(program, 'serve', summary, example)
    .option('--host <address>', 'in place of HOST', setTo('HOST'))
    .option('--port <number>', 'in place of PORT', setTo('PORT'))
    .option('--store <url>', 'in place of STORE_URL', setTo('STORE_URL'))
    .addHelpText('after', settingsHelp)
    .action(async () => {
      // Imported here, so that --help does not load the adapters.
      const { serve } = await import('./serve.js');
      await serve(context, environment);
    });
}

function settingsHelp(): string {
  const lines = SETTINGS.map(({ name, default: fallback, example, help }) => {
    const value = fallback ? `default: ${fallback}` : `such as ${example}`;
    return `  ${name.padEnd(18)} ${help} (${value})`;
  });
  const fileNote = '\n  NAME_FILE names a file that holds the value of NAME.';
  return ['\nEnvironment variables:', ...lines, fileNote].join('\n');
}
