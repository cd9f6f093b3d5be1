import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What the first group of a pattern is, at each place in a text where the pattern is found. */
export const capturesIn = (text: string, pattern: RegExp): readonly string[] =>
  Array.from(text.matchAll(pattern), ([, captured = '']) => captured);

/** The text of a document without its code blocks, in which other rules hold. */
export const proseOf = (document: string): string =>
  read(document).replaceAll(/^```[^]*?^```$/gm, '');

/** What people read, but for the pages that `npm run api` makes and `npm run api:check` compares. */
export const DOCUMENTS: readonly string[] = globSync('{*.md,docs/**/*.md,examples/**/*.md}', {
  cwd: ROOT,
  exclude: ['docs/api/**', 'examples/**/node_modules/**'],
}).map((path) => path.replaceAll(sep, '/'));

/** A fenced block of a document. */
export interface CodeBlock {
  /** Where it is: the document, the heading above it, and which one below that heading. */
  readonly place: string;
  /** As the fence says; empty where it says nothing. */
  readonly language: string;
  readonly code: string;
  /** The last line above it that is not empty. */
  readonly above: string;
}

function blocksOf(document: string): CodeBlock[] {
  const text = read(document);
  const counts = new Map<string, number>();
  return [...text.matchAll(/^ *(`{3,}|~{3,})(.*)\n([^]*?)^ *\1$/gm)].map((block) => {
    const [, , language = '', code = ''] = block;
    const before = text.slice(0, block.index).replaceAll(/^```[^]*?^```$/gm, '');
    const heading = capturesIn(before, /^#+ (.*)$/gm).at(-1) ?? '';
    const count = (counts.get(heading) ?? 0) + 1;
    counts.set(heading, count);
    const above = before.trimEnd().split('\n').at(-1) ?? '';
    return { place: `${document} > ${heading} > ${count}`, language, code, above };
  });
}

export const CODE_BLOCKS: readonly CodeBlock[] = DOCUMENTS.flatMap(blocksOf);

/** The code at a place. */
export function codeAt(place: string): string {
  const block = CODE_BLOCKS.find((candidate) => candidate.place === place);
  if (block === undefined) throw new Error(`there is no block at ${place}`);
  return block.code;
}
