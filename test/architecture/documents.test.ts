import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ROOT, capturesIn, proseOf, read } from '../docs/code-blocks.js';

const OF_SUITES = 'test/contract/README.md';

const DOCUMENTS = [...globSync('{*.md,docs/**/*.md}', { cwd: ROOT }), OF_SUITES];

/** What a heading is called in links, as it is on most sites. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (file: string): string[] =>
  capturesIn(proseOf(file), /^#+ (.*)$/gm).map(anchorOf);

/** The links, and the addresses of pictures. */
const LINKS = /(?:\]\(|(?:src|srcset)=")([^)"\s]+)[)"]/g;

/** The links that lead to nothing: no such file, or no such heading in it. */
function brokenLinks(document: string): string[] {
  return capturesIn(proseOf(document), LINKS).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? document : join(dirname(document), path);
    if (!existsSync(join(ROOT, file))) return true;
    return anchor !== undefined && !anchorsOf(file).includes(anchor);
  });
}

/** The files and folders named in code spans that are not there. */
function missingPaths(document: string): string[] {
  const paths = capturesIn(
    proseOf(document),
    /`((?:src|test|docs|tools|examples|\.ci)\/[\w./-]*)`/g,
  );
  return paths.filter((path) => !existsSync(join(ROOT, path)));
}

const unindented = (code: string): string => code.replaceAll(/^ +/gm, '');

/** Whether a file of src names a field of an animal. `name` and `status` alone are also words of keys and of HTTP. */
function namesField(file: string, source: string): boolean {
  const ownWords =
    /categoryId|category_id|petStatus|PetStatus|pet_status|PET_STATUS|StatusConflict/;
  if (ownWords.test(source) || /\b(?:pet|animal)\.(?:name|status)\b/.test(source)) return true;
  const inQueries = /limit, status\b|status, after|`\$status`|status_1|by_status/;
  return (
    /^src\/(?:application|adapters\/(?:sqlite|mongodb))\//.test(file) && inQueries.test(source)
  );
}

describe('The documents', () => {
  it('are found', () => {
    expect(DOCUMENTS).to.include.members(['README.md', join('docs', 'architecture.md')]);
    expect(DOCUMENTS.flatMap((document) => [...proseOf(document).matchAll(/\]\(/g)])).to.not.be
      .empty;
  });

  for (const document of DOCUMENTS) {
    it(`have no link that leads to nothing: ${document}`, () => {
      expect(brokenLinks(document)).to.deep.equal([]);
    });

    it(`name no file that is not there: ${document}`, () => {
      expect(missingPaths(document)).to.deep.equal([]);
    });
  }

  it('lead a reader to the same ten files, in the same order', () => {
    const page = proseOf('docs/architecture.md');
    const files = capturesIn(page, /^\| \[((?:src|test)\/\S+\.ts)\]/gm);
    expect(files).to.have.length(10);
    const readme = proseOf('README.md');
    const inReadme = capturesIn(readme, /^\d+\. \[.*\]\(((?:src|test)\/\S+\.ts)\)/gm);
    expect(inReadme).to.deep.equal(files);
  });

  it('name every file of src with a field of an animal, and no other, where they make it another thing', () => {
    const [, list = ''] = read('docs/make-it-yours.md').split('## The fields');
    const named = capturesIn(list, /`(src\/[\w./-]+\.ts)`/g);
    const withFields = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) =>
      namesField(file, read(file)),
    );
    expect(withFields).to.include.members(['src/domain/pet.ts', 'src/adapters/http/pet-json.ts']);
    expect(named).to.have.members(withFields);
  });

  it('quote the code of the contract suites as it is', () => {
    const quotes = read(OF_SUITES).matchAll(/`([\w./-]+\.ts)`(?:(?!```)[^])*```ts\n([^]*?)```/g);
    const quoted = Array.from(quotes);
    const differing = quoted
      .filter(([, file = '', code = '']) => !unindented(read(file)).includes(unindented(code)))
      .map(([, file]) => file);

    expect(differing, 'files that the page misquotes').to.deep.equal([]);
    expect(quoted, 'its clause, its case and its broken adapters').to.have.length(3);
  });

  it('are short where they are read first: the README, and every cell of the decisions', () => {
    expect(read('README.md').split(/\s+/).length).to.be.at.most(750);
    const cells = proseOf('docs/decisions.md').matchAll(/(?<=\|)[^|\n]*(?=\|)/g);
    const long = [...cells]
      .map(([cell]) => cell.trim())
      .filter((cell) => /[^-]/.test(cell) && cell.length > 200);
    expect(long).to.deep.equal([]);
  });

  it('draw the hexagon with every folder of src, in light and dark alike', () => {
    const [light = '', dark = ''] = ['light', 'dark'].map((kind) =>
      read(`docs/images/hexagon-${kind}.svg`),
    );
    const colours = /#[0-9a-f]{6}/g;
    expect(dark.replaceAll(colours, '')).to.equal(light.replaceAll(colours, ''));
    const names = light.matchAll(/\b(?:domain|application|adapters|bootstrap)(?:\/[\w-]+)*/g);
    const drawn = new Set(Array.from(names, ([path]) => `src/${path}`));
    // The docs page and the OpenAPI document are parts of the interface.
    const folders = globSync('src/{*,adapters/*,adapters/http/*}/', { cwd: ROOT })
      .map((path) => path.replace(/\/$/, ''))
      .filter((path) => !/^src\/adapters$|\/(?:docs-page|open-api)$/.test(path));
    expect([...drawn]).to.include.members(folders);
    expect([...drawn].filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
  });
});

/** A file in the threat model, and the titles of the cases in it that hold a promise. */
const references = (page: string) =>
  Array.from(page.matchAll(/^- `([\w./-]+)`: (.*)$/gm), ([, file = '', titles = '']) => ({
    file,
    titles: capturesIn(titles, /"([^"]+)"/g),
  }));

/** The titles that no string of their file is. */
const missingTitles = (page: string): string[] =>
  references(page).flatMap(({ file, titles }) => {
    const source = existsSync(join(ROOT, file)) ? read(file) : '';
    return titles
      .filter((title) => !source.includes(`'${title}'`))
      .map((title) => `${file}: ${title}`);
  });

describe('The threat model', () => {
  const page = read('docs/threat-model.md');

  it('names tests that are there, by the titles of their cases', () => {
    expect(missingTitles(page)).to.deep.equal([]);
    expect(references(page).filter(({ titles }) => titles.length === 0)).to.deep.equal([]);
  });

  it('has each of the ten risks, with a test that holds it', () => {
    const risks = page.split(/^### API/m).slice(1);
    expect(risks.map((risk) => Number.parseInt(risk, 10))).to.deep.equal([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
    expect(risks.filter((risk) => references(risk).length === 0)).to.deep.equal([]);
  });

  it('would not pass with a title that is in no test, or in another file', () => {
    const other = '- `test/docs/readme.test.ts`: "no such title"\n- `test/none.ts`: "names it"\n';
    expect(missingTitles(other)).to.have.length(2);
  });
});
