import { expect } from 'chai';
import { readImports } from './imports.js';

const specifiers = (source: string): Array<string | undefined> =>
  readImports(source).map(({ specifier }) => specifier);

describe('readImports', () => {
  const FOUND: ReadonlyArray<readonly [source: string, ...specifiers: Array<string | undefined>]> = [
    ["import 'a';", 'a'],
    ['import "a";', 'a'],
    ["import a from 'a';", 'a'],
    ["import { a, type b as c } from 'a';", 'a'],
    ["import type { a } from 'a';", 'a'],
    ["import * as a from 'a';", 'a'],
    ["import from from 'a';", 'a'],
    ["import { from } from 'a';", 'a'],
    ["import a from 'a' with { type: 'json' };", 'a'],
    ["import{a}from'a';import{b}from'b'", 'a', 'b'],
    ["import a\n/* from 'x' */\nfrom // from 'y'\n'a'", 'a'],
    ["export * from 'a';", 'a'],
    ["export * as a from 'a';", 'a'],
    ["export type * from 'a';", 'a'],
    ["export { a } from 'a';", 'a'],
    ["export type { a } from 'a';", 'a'],
    ["export { a };\nconst from = 'b';"],
    ["export type A = { a: 1 };\nimport 'b';", 'b'],
    ["export const from = 'a';"],
    ["await import('a');", 'a'],
    ["import('a', { with: {} });", 'a'],
    ["type A = import('a').A;", 'a'],
    ["const all = [...(await import('a'))];", 'a'],
    ["f(...import('a'));", 'a'],
    ['import(a);', undefined],
    ["import('a' + b);", undefined],
    ['import(`a`);', undefined],
    ["const text = `${await import('a')}`;", 'a'],
    ["const text = `${`${await import('a')}`} ${{ a: {} }}`; import 'b';", 'a', 'b'],
    ['import.meta.url;'],
    ["// import 'a';\n/* import 'b'; */\n/** import 'c' */"],
    ['const text = "import \'a\'";'],
    ['const text = \'import "a"\';'],
    ["const text = 'it\\'s'; import 'a';", 'a'],
    ["const text = `import 'a' \\` \\${import('b')} $`;"],
    ["const text = '//'; import 'a';", 'a'],
    ["const text = '/*'; import 'a'; // */", 'a'],
    ["const form = /'/; import 'a';", 'a'],
    ["const form = /[/'\"`]\\//gu; import 'a';", 'a'],
    ["f(/import 'a'/);"],
    ["const half = a / 2; import 'a'; const third = a / 3;", 'a'],
    ["const half = (a + b) / 2, c = d[0] / 2; import 'a';", 'a'],
    ["const half = `${a / 2}` / 2; import 'a';", 'a'],
    ["while (1) { return /'/; } import 'a';", 'a'],
    ["loader.import('a'); loader.export; const o = { import: 'a', export: 1 };"],
    ["this.#import('a');"],
    ["const reimport = 'a';"],
    ["const a: Map<string, Array<number>> = b >> 1; import 'a';", 'a'],
  ];
  for (const [source, ...expected] of FOUND) {
    it(`finds ${expected.length === 0 ? 'nothing' : expected.join(', ')} in ${JSON.stringify(source)}`, () => {
      expect(specifiers(source)).to.deep.equal(expected);
    });
  }

  it('says the line on which the name stands', () => {
    const source = "/*\n*/import 'a';\n\nimport {\n  b,\n} from 'b';\nconst t = `\n\n`;\r\nimport('c');";
    expect(readImports(source)).to.deep.equal([
      { specifier: 'a', line: 2 },
      { specifier: 'b', line: 6 },
      { specifier: 'c', line: 10 },
    ]);
  });

  const UNREADABLE = [
    "const a = 'b;\nimport 'c';",
    'const a = `b;',
    'const a = `${b`;',
    'const a = /b;',
    'const a = { b: 1 ;',
    'const a = 1 };',
    "import a form 'b';",
  ];
  for (const source of UNREADABLE) {
    it(`passes over nothing that it cannot read: ${JSON.stringify(source)}`, () => {
      expect(() => readImports(source)).to.throw(SyntaxError, /^line 1 /);
    });
  }
});
