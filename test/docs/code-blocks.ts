import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const HEADING_OR_BLOCK = /^#+ (.*)$|^```.*\n([^]*?)^```$/gm;

/** The fenced blocks below a heading: `README.md > Run it`. */
export function codeBelow(place: string): readonly string[] {
  const [document = '', heading] = place.split(' > ');
  const blocks: string[] = [];
  let current = '';
  for (const [, title, code = ''] of read(document).matchAll(HEADING_OR_BLOCK)) {
    if (title === undefined && current === heading) blocks.push(code);
    current = title ?? current;
  }
  return blocks;
}

/** A fenced block of a document: `README.md > Run it > 2` is the second one below that heading. */
export function codeAt(place: string): string {
  const block = codeBelow(place)[Number(place.split(' > ')[2]) - 1];
  if (block === undefined) throw new Error(`there is no block at ${place}`);
  return block;
}
