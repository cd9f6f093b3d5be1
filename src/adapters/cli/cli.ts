import { parseArgs } from 'node:util';
import type { Command, CommandOptions } from './command.js';
import { copyStore } from './copy-command.js';
import { issueKey, listKeys, revokeKey, rotateKey } from './key-commands.js';
import type { Operations, Terminal } from './operations.js';
import { UsageError } from './usage-error.js';

const serve: Command = {
  name: 'serve',
  summary: 'Runs the service; its settings are environment variables.',
  example: 'PORT=8080 STORE_URL=sqlite:data/animal-store.db animal-store serve',
  usage: 'serve',
  options: {},
  run: (operations) => operations.serve(),
};

const COMMANDS: readonly Command[] = [serve, issueKey, listKeys, revokeKey, rotateKey, copyStore];

/**
 * Runs one command line. Resolves to the exit code: 0 done, 2 wrong usage, or what the command says; what a
 * command cannot do is thrown.
 */
export async function runCli(
  args: readonly string[],
  operations: Operations,
  terminal: Terminal,
  version: string,
): Promise<number> {
  const [first = '', second = ''] = args;
  if (first === '--version') return say(terminal, version);
  if (first === '' || first === '--help' || first === 'help') return say(terminal, overview());
  const command = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`);
  try {
    if (command === undefined) throw new UsageError(`unknown command: ${printable(args)}`);
    const rest = args.slice(command.name.split(' ').length);
    if (rest.includes('--help')) return say(terminal, help(command));
    return await command.run(operations, terminal, parse(command, rest));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const where = command === undefined ? 'animal-store --help' : `animal-store ${command.name} --help`;
    terminal.note(`${error.message}\nSee: ${where}`);
    return 2;
  }
}

function parse({ options, positional }: Command, args: readonly string[]): CommandOptions {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const expected = positional === undefined ? 0 : 1;
    if (positionals.length > expected) throw new UsageError(`too many arguments: ${positionals.length}`);
    if (positionals.length < expected) throw new UsageError(`${positional} is missing`);
    return { values, argument: positionals[0] ?? '' };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** The command's name as typed; nothing behind it, where a key may stand. */
const printable = (args: readonly string[]): string => JSON.stringify((args[0] ?? '').slice(0, 40));

function say(terminal: Terminal, text: string): number {
  terminal.out(`${text}\n`);
  return 0;
}

const help = ({ usage, summary, example }: Command): string =>
  `${summary}\n\nUsage: animal-store ${usage}\n\nExample:\n  ${example}`;

const overview = (): string => {
  const width = Math.max(...COMMANDS.map(({ usage }) => usage.length));
  const lines = COMMANDS.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return [
    'Runs and tends an animal store.',
    '',
    'Usage: animal-store COMMAND',
    '',
    ...lines,
    '',
    'Every command reads the settings that serve reads (STORE_URL and the like); --help behind one tells more.',
  ].join('\n');
};
