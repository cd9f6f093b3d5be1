import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { INTERFACE_PROMISES } from './interface-promises.js';
import { SCENARIOS } from '../contract/http/request-scenarios.js';
import { ROWS } from '../contract/http/request-table.js';

/** Every test that can show a promise: rows and scenarios by name, others as `FILE: TITLE`. */
export function testNames(testFolder: string): readonly string[] {
  const files = readdirSync(testFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  const others = files.sort().flatMap((file) => {
    const source = readFileSync(join(testFolder, file), 'utf8');
    const titles = source.matchAll(/\bit\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g);
    return [...titles].map(([, , title]) => `${file.replaceAll('\\', '/')}: ${title}`);
  });
  return [...[...ROWS, ...SCENARIOS].map(({ name }) => name), ...others];
}

/** The tests that a reference of a promise stands for; none if there are no such tests. */
export function testsShowing(reference: string, names: readonly string[]): readonly string[] {
  if (!reference.endsWith(' …')) return names.filter((name) => name === reference);
  const beginning = reference.slice(0, -1);
  return names.filter((name) => name.startsWith(beginning));
}

const HEAD = `# Conformance

Generated, and held to its sources by a test: \`npm run build && node tools/conformance.mjs\` makes it anew.

Every sentence of the interface that promises something of the service, and the tests that show it. A name
that ends in an ellipsis stands for all tests whose names begin so. Those without a file are rows and
scenarios of \`test/contract/http\`: each runs against the started service, over a socket, on every store. Besides, every
answer in them is held to the shape of errors, to the content type and to the headers that all answers have.
`;

/** The conformance document, in Markdown. */
export function conformanceDocument(names: readonly string[]): string {
  const sections = INTERFACE_PROMISES.map(({ title, promises }) => {
    const items = promises.map(({ sentence, shownBy }) => {
      const tests = shownBy.map((reference) => `  - ${inCode(reference)}${counted(reference, names)}`);
      return `- ${escaped(sentence)}\n${tests.join('\n')}`;
    });
    return `## ${title}\n\n${items.join('\n')}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

const counted = (reference: string, names: readonly string[]): string =>
  reference.endsWith(' …') ? ` (${testsShowing(reference, names).length})` : '';

const inCode = (text: string): string => `\`${text}\``;

const escaped = (text: string): string => text.replaceAll('<', '\\<');
