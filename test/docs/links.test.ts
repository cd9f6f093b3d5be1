import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../root.js';
import { read } from './code-blocks.js';

const DOCUMENTS = globSync('{*,docs/**/*,examples/**/*,tools/**/*,test/**/*}.md', {
  cwd: ROOT,
  exclude: ['**/node_modules/**', 'CHANGELOG.md'], // which names what has gone
});

/** A document without its code blocks, in which other rules hold. */
const proseOf = (document: string): string => read(document).replaceAll(/^```[^]*?^```$/gm, '');

/** What the first group of a pattern captures in the prose of a document. */
const captures = (document: string, pattern: RegExp): string[] =>
  Array.from(proseOf(document).matchAll(pattern), ([, captured = '']) => captured);

/** The anchors of the headings, as most sites name them. */
const anchorsOf = (document: string): string[] =>
  captures(document, /^#+ (.*)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Whether a link or the address of a picture leads to a file, and to a heading in it. */
function leadsSomewhere(document: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

describe('The documents', () => {
  it('have no link that leads to nothing', () => {
    const links = DOCUMENTS.flatMap((document) =>
      captures(document, /(?:\]\(|(?:src|srcset)=")([^)"\s]+)[)"]/g).map(
        (link) => [document, link] as const,
      ),
    );
    expect(links).to.have.length.above(50);
    expect(links.filter((place) => !leadsSomewhere(...place))).to.deep.equal([]);
  });

  it('name only files that exist', () => {
    const paths = DOCUMENTS.flatMap((document) =>
      captures(document, /`((?:src|test|docs|tools|examples|\.ci)\/[\w./-]*)`/g).map(
        (path) => [document, path] as const,
      ),
    );
    expect(paths).to.have.length.above(50);
    expect(paths.filter(([, path]) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
  });
});
