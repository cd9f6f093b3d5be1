import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { docsPage } from '../../src/adapters/http/docs-page/docs-page.js';
import { DEFAULT_HTTP_SETTINGS } from '../../src/adapters/http/http-settings.js';
import { readDocsFiles } from '../../src/adapters/http/node/docs-files.js';

/** The picture of the docs page in the README, relative to the repository. */
export const PICTURE = 'docs/images/docs-try-1280-light.png';

/** Names the state of what the picture shows: the head of the page, the operation that adds an animal, and the files. */
export async function pictured(): Promise<string> {
  const html = docsPage(DEFAULT_HTTP_SETTINGS);
  const [head = ''] = html.split('<article', 1);
  const [operation = ''] = html.slice(html.indexOf('id="createPet"')).split('</article>', 1);
  const seen = /^(?:page\.css|page\.js|icon\.svg)$/;
  const files = (await readDocsFiles()).filter(({ name }) => seen.test(name));
  const texts = [head, operation, ...files.map(({ text }) => text)];
  return `page ${createHash('sha256').update(texts.join('\0')).digest('hex')}`;
}

/** The length of the signature and the first chunk of a PNG. */
const HEAD = 33;

/** A PNG with a comment (PNG, third edition, 11.3.3.3). */
export function commented(png: Buffer, comment: string): Buffer {
  const chunk = Buffer.from(`tEXtComment\0${comment}`, 'latin1');
  const numbers = [chunk.length - 4, crc32(chunk)].map((number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(number);
    return bytes;
  });
  const [length = Buffer.of(), checksum = Buffer.of()] = numbers;
  return Buffer.concat([png.subarray(0, HEAD), length, chunk, checksum, png.subarray(HEAD)]);
}
