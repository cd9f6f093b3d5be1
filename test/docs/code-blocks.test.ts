import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CODE_BLOCKS, ROOT, capturesIn, read, type CodeBlock } from './code-blocks.js';

/** What no test can run here, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'README.md > Run it > 1': 'CI installs, and test/service starts by npm; the scripts are there',
  'README.md > Embed it > 2': 'packs a checkout: npm run package:check and outsiders do the same',
  'README.md > Test it > 1': 'it is what CI does; the scripts are there',
  'CONTRIBUTING.md > Contributing > 1':
    'they never end, or are all that CI does; the scripts are there',
  'docs/make-it-yours.md > Rename > 1': 'renames a whole checkout',
  'docs/write-an-adapter.md > Write an adapter > 1':
    'needs the tarball: npm run outsiders does the same',
  'docs/write-an-adapter.md > Use it in the service > 2':
    'test/bootstrap starts services with modules of ADAPTERS',
  'docs/listener.md > What plain node:http does > 1': 'attacks for minutes; CI runs the short form',
  'docs/performance.md > Repeat it > 1': 'measures for minutes; CI runs the guard',
  'docs/operations/deploy.md > In one line > 1':
    'listens to everybody; scripts and settings are there',
  'docs/operations/deploy.md > In one line > 2':
    'names folders of a machine; test/service/permissions does the same',
  'docs/operations/deploy.md > In a container > 3': 'needs a cluster; the manifests are checked',
  'docs/operations/litestream.md > Set it up > 1': 'needs Litestream, which no package brings',
  'docs/operations/litestream.md > Set it up > 2': 'needs Litestream, which no package brings',
  'docs/operations/litestream.md > Restoring > 1': 'needs Litestream, which no package brings',
  'docs/operations/litestream.md > Restoring > 2':
    'operations.test restores a copy by the same command',
  'docs/operations/mongodb.md > The animal store on MongoDB > 1':
    'needs a replica set of three machines',
  'docs/operations/mongodb.md > Backup and restore > 1':
    'needs the tools of MongoDB, which no package brings',
  'docs/operations/mongodb.md > Moving there, and back > 1':
    'needs a replica set of three machines',
};

/** The file of the repository that the block shows, named above it. Every such file has a test. */
const fileOf = ({ above, code }: CodeBlock): string | undefined => {
  const [file] = capturesIn(above, /`(examples\/[\w./-]+)`/g);
  return file !== undefined && existsSync(join(ROOT, file)) && read(file) === code
    ? file
    : undefined;
};

describe('The blocks of code in the documents', () => {
  const TESTS = globSync('{test,tools}/**/*.{ts,mjs}', { cwd: ROOT }).map(
    (file) => [file, read(file)] as const,
  );
  /** The tests and tools that take the block at the place, by name or by the name of the file in its first line. */
  const testsOf = ({ place, code }: CodeBlock): string[] => {
    const [named] = capturesIn(code, /^\/\/ ([\w-]+(?:\.[\w-]+)*\.mjs)\n/g);
    const [document = ''] = place.split(' > ');
    return TESTS.filter(
      ([file, source]) =>
        !file.endsWith('code-blocks.test.ts') &&
        (source.includes(`'${place}'`) ||
          (named !== undefined && source.includes(document) && source.includes(`'${named}'`))),
    ).map(([file]) => file);
  };

  it('are run, show a tested file, or say here why not', () => {
    const unknown = CODE_BLOCKS.filter(
      (block) =>
        NOT_RUN[block.place] === undefined &&
        fileOf(block) === undefined &&
        testsOf(block).length === 0,
    );
    expect(unknown.map(({ place }) => place)).to.deep.equal([]);
    expect(CODE_BLOCKS, 'the blocks of all documents').to.have.length.above(30);
  });

  it('have an account only where there is a block', () => {
    const places = new Set(CODE_BLOCKS.map(({ place }) => place));
    expect(Object.keys(NOT_RUN).filter((place) => !places.has(place))).to.deep.equal([]);
  });

  it('show files that have a test', () => {
    const files = CODE_BLOCKS.flatMap((block) => fileOf(block) ?? []);
    expect(files, 'the files that the blocks show').to.have.length.above(4);
    const tests = TESTS.filter(([file]) => file.startsWith('test/examples/')).map(
      ([, source]) => source,
    );
    for (const file of files)
      expect(tests.join('\n'), file).to.include(`'${file.split('examples/').at(-1)}`);
  });
});
