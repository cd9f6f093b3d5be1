import type { Command } from 'commander';
import { refuse } from '../service/setting-readers.js';
import { SETTINGS } from '../service/settings.js';
import { addCommand, type CommandContext } from './command-line.js';

export function addServeCommand(program: Command, context: CommandContext): void {
  const summary = 'Runs the service until Ctrl-C or SIGTERM. Environment variables configure it.';
  const example = 'LOG_LEVEL=warn animal-store serve --port 8080 --store sqlite:animals.db';
  /** Writes an option into the environment, where `serve` reads its settings. There an empty value is no value. */
  const setTo = (name: string) => (text: string) => {
    context.io.env[name] = text || refuse('must not be empty');
    delete context.io.env[`${name}_FILE`];
  };
  addCommand(program, 'serve', summary, example)
    .option('--host <address>', 'in place of HOST', setTo('HOST'))
    .option('--port <number>', 'in place of PORT', setTo('PORT'))
    .option('--store <url>', 'in place of STORE_URL', setTo('STORE_URL'))
    .addHelpText('after', settingsHelp)
    .action(async () => {
      const { serve } = await import('./serve.js');
      await serve(context);
    });
}

function settingsHelp(): string {
  const lines = SETTINGS.map(({ name, default: usual, example, help }) => {
    const value = usual ? `default: ${usual}` : `such as ${example}`;
    return `  ${name.padEnd(18)} ${help} (${value})`;
  });
  const rule = '\n  NAME_FILE names a file that holds the value of NAME.';
  return ['\nEnvironment variables:', ...lines, rule].join('\n');
}
