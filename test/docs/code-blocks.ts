import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const HEADING_OR_BLOCK = /^#+ (.*)$|^```.*\n([^]*?)^```$/gm;

/** A fenced block of a document: `README.md > Run it > 2` is the second one below that heading. */
export function codeAt(place: string): string {
  const [document = '', heading, number] = place.split(' > ');
  let current = '';
  let count = 0;
  for (const [, title, code = ''] of read(document).matchAll(HEADING_OR_BLOCK)) {
    count = title === undefined ? count + 1 : 0;
    current = title ?? current;
    if (current === heading && count === Number(number)) return code;
  }
  throw new Error(`there is no block at ${place}`);
}
