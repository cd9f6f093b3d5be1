import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

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
  const blocks: CodeBlock[] = [];
  let heading = '';
  let above = '';
  let count = 0;
  let open: { readonly fence: string; readonly language: string; readonly lines: string[] } | undefined;
  for (const line of read(document).split('\n')) {
    const [, fence, language = ''] = /^ *(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open !== undefined) {
      if (fence === open.fence && language === '') {
        count += 1;
        const code = open.lines.map((text) => `${text}\n`).join('');
        blocks.push({ place: `${document} > ${heading} > ${count}`, language: open.language, code, above });
        open = undefined;
      } else open.lines.push(line);
    } else if (fence !== undefined) open = { fence, language, lines: [] };
    else if (line.startsWith('#')) [heading, count] = [line.replace(/^#+ /, ''), 0];
    else if (line !== '') above = line;
  }
  if (open !== undefined) throw new Error(`a block of ${document} has no end`);
  return blocks;
}

export const CODE_BLOCKS: readonly CodeBlock[] = DOCUMENTS.flatMap(blocksOf);

/** The code at a place. */
export function codeAt(place: string): string {
  const block = CODE_BLOCKS.find((candidate) => candidate.place === place);
  if (block === undefined) throw new Error(`there is no block at ${place}`);
  return block.code;
}
