import { parseArgs } from 'node:util';
import { InvalidParameterError } from '../../domain/errors.js';
import { checkStore } from './check-store-command.js';
import type { Command, CommandOptions } from './command.js';
import { copyStore } from './copy-command.js';
import { help, overview } from './help.js';
import { issueKey, listKeys, revokeKey, rotateKey } from './key-commands.js';
import type { Operations, Terminal } from './operations.js';
import { serve } from './serve-command.js';
import { UsageError } from './usage-error.js';

const openApi: Command = {
  name: 'openapi',
  summary: 'Prints the OpenAPI document of the service, as it is served at /openapi.json.',
  example: 'PUBLIC_URL=https://animals.example.org/v1 animal-store openapi',
  usage: 'openapi',
  options: {},
  terms: [],
  async run(operations, { out }) {
    out(operations.openApi());
    return 0;
  },
};

const COMMANDS: readonly Command[] = [
  serve,
  openApi,
  issueKey,
  listKeys,
  revokeKey,
  rotateKey,
  copyStore,
  checkStore,
];

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
  if (first === 'help' && second !== '')
    return runCli([...args.slice(1), '--help'], operations, terminal, version);
  if (first === '' || first === 'help' || isHelp(first)) return say(terminal, overview(COMMANDS));
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length > 0 && isHelp(second)) return say(terminal, overview(group));
  const command = COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`);
  try {
    if (command === undefined) throw new UsageError(unknownCommand(first, second, group));
    const rest = args.slice(command.name.split(' ').length);
    if (rest.some(isHelp)) return say(terminal, help(command));
    return await command.run(operations, terminal, parse(command, rest));
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof InvalidParameterError)) throw error;
    const where = command === undefined ? 'animal-store --help' : `animal-store ${command.name} --help`;
    terminal.note(`${error.message}\nSee: ${where}`);
    return 2;
  }
}

function parse({ name, options, positional }: Command, args: readonly string[]): CommandOptions {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const expected = positional === undefined ? 0 : 1;
    if (positionals.length > expected)
      throw new UsageError(
        `${name} takes ${positional === undefined ? 'no argument' : `${positional} only`}`,
      );
    if (positionals.length < expected) throw new UsageError(`${positional} is missing`);
    return { values, argument: positionals[0] ?? '' };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Its first sentence; what follows is advice for other programs.
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/, 1);
    throw new UsageError(message, { cause: error });
  }
}

const isHelp = (argument: string): boolean => argument === '--help' || argument === '-h';

/** The beginning of what was typed, and nothing behind it: a key may stand there by mistake. */
function unknownCommand(first: string, second: string, group: readonly Command[]): string {
  if (group.length === 0) return `unknown command: ${JSON.stringify(first.slice(0, 16))}`;
  const known = group.map(({ name }) => name).join(', ');
  return second === ''
    ? `${first} is not a command by itself: ${known} are`
    : `unknown command: ${JSON.stringify(`${first} ${second.slice(0, 16)}`)}, known are ${known}`;
}

function say(terminal: Terminal, text: string): number {
  terminal.out(`${text}\n`);
  return 0;
}
