import type { Command, Term } from './command.js';

/** As wide as a terminal is unless somebody widened it. */
const WIDTH = 80;

/** What there is to run. */
export const overview = (commands: readonly Command[]): string =>
  [
    'Runs and tends an animal store.',
    '',
    'Usage: animal-store COMMAND',
    '',
    ...commands.flatMap(({ usage, summary }) => [...wrapped(usage, 2, 6), ...wrapped(summary, 6)]),
    '',
    ...wrapped(
      'Every command reads the settings that serve reads (STORE_URL and the like): serve --help lists them. ' +
        '--help behind another one tells what its options mean.',
    ),
  ].join('\n');

/** How one command is used. */
export const help = ({ summary, usage, terms, settings = [], example }: Command): string =>
  [
    ...wrapped(summary),
    '',
    ...wrapped(`Usage: animal-store ${usage}`, 0, 2),
    '',
    ...explained('Options:', terms),
    ...explained('Settings:', settings),
    'Example:',
    `  ${example}`,
  ].join('\n');

function explained(title: string, terms: readonly Term[]): string[] {
  if (terms.length === 0) return [];
  const width = Math.max(...terms.map(([written]) => written.length));
  const lines = terms.flatMap(([written, meaning]) => {
    const [first = '', ...rest] = wrapped(meaning, width + 4);
    return [`  ${written.padEnd(width)}${first.slice(width + 2)}`, ...rest];
  });
  return [title, ...lines, ''];
}

/** The text in lines that fit, the first one indented by so much and the others by as much or more. */
function wrapped(text: string, indent = 0, furtherIndent = indent): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  let empty = true;
  // What stands in brackets stays together.
  for (const word of text.match(/\[[^\]]*\]|\S+/g) ?? []) {
    if (!empty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = ' '.repeat(furtherIndent);
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line];
}
