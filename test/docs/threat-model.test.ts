import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT, read } from './code-blocks.js';

/** A file in the threat model, and the titles of the cases in it that hold a promise. */
const references = (page: string) =>
  Array.from(page.matchAll(/^- `([\w./-]+)`: (.*)$/gm), ([, file = '', titles = '']) => ({
    file,
    titles: Array.from(titles.matchAll(/"([^"]+)"/g), ([, title = '']) => title),
  }));

/** The titles that no string of their file is. */
const missingTitles = (page: string): string[] =>
  references(page).flatMap(({ file, titles }) => {
    const source = existsSync(join(ROOT, file)) ? read(file) : '';
    return titles.filter((title) => !source.includes(`'${title}'`)).map((title) => `${file}: ${title}`);
  });

describe('The threat model', () => {
  const page = read('docs/threat-model.md');

  it('names tests that are there, by the titles of their cases', () => {
    expect(missingTitles(page)).to.deep.equal([]);
    expect(references(page).filter(({ titles }) => titles.length === 0)).to.deep.equal([]);
  });

  it('has each of the ten risks, with a test that holds it', () => {
    const risks = page.split(/^### API/m).slice(1);
    expect(risks.map((risk) => Number.parseInt(risk, 10))).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(risks.filter((risk) => references(risk).length === 0)).to.deep.equal([]);
  });

  it('would not pass with a title that is in no test, or in another file', () => {
    const other = '- `test/docs/readme.test.ts`: "no such title"\n- `test/none.ts`: "names it"\n';
    expect(missingTitles(other)).to.have.length(2);
  });
});
