import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CODE_BLOCKS, DOCUMENTS, ROOT, read, type CodeBlock } from './code-blocks.js';

/** Run, or checked by a tool, in a test of this title, or by a tool of the repository that CI runs. */
interface Shown {
  readonly by: string;
  readonly test?: string;
}

const commands = (test: string): Shown => ({ by: 'test/docs/commands.test.ts', test });
const operators = (test: string): Shown => ({ by: 'test/docs/operations.test.ts', test });
const readme = (test: string): Shown => ({ by: 'test/service/readme.test.ts', test });
const suites = (test: string): Shown => ({ by: 'test/docs/contract-suites.test.ts', test });
const guide = (test: string): Shown => ({ by: 'test/docs/write-an-adapter.test.ts', test });
const binders: Shown = { by: 'tools/binders.mjs' };

const TOUR = readme('tells of a tour that goes as it says');
const EMBEDDED = readme('shows how to embed the use cases');
const OWN_STORE = readme('shows how to bring a store, and how to hold it to its promises');
const GUIDE_STORE = guide('builds a store that passes the contract as it is bound there');
const CONTRACT_SUITES = 'docs/contract-suites.md >';
const GUIDE = 'docs/write-an-adapter.md >';
const DEPLOY = 'docs/operations/deploy.md >';
const COPIES = commands('copy a store that serves, by itself and by SQLite');

const RIGHTS: Shown = {
  by: 'test/adapters/mongodb/mongo-rights.test.ts',
  test: 'are enough for the first start and for everything after it',
};

/** What shows of each block that it is right. Programs that stand in a file of their own go without saying. */
const SHOWN: Readonly<Record<string, Shown>> = {
  'README.md > Run it > 2': commands('tell of the first start what it prints'),
  'README.md > A tour > 1': TOUR,
  'README.md > A tour > 2': TOUR,
  'README.md > A tour > 3': commands('issue, list, rotate and revoke keys'),
  'README.md > A tour > 4': commands('tell who calls what is deprecated, as it is shown'),
  'README.md > Move to another store > 1': commands('copy a store, and say so as it is shown'),
  'README.md > Embed it > 1': EMBEDDED,
  'README.md > Call it from another program > 1': readme(
    'shows how to call the service from another program',
  ),
  'README.md > Serve it by Fetch > 1': readme('shows how to serve by Fetch'),
  'README.md > Bring your own store > 1': OWN_STORE,
  'README.md > Bring your own store > 2': OWN_STORE,
  'docs/architecture.md > Architecture > 1': operators(
    'have a picture of what is in the folders that it names',
  ),
  'docs/operations/mongodb.md > Rights > 1': RIGHTS,
  [`${CONTRACT_SUITES} A subject > 1`]: suites('binds a store to node:test'),
  [`${CONTRACT_SUITES} Under a test runner > 1`]: suites('binds a store to mocha'),
  [`${CONTRACT_SUITES} Under a test runner > 2`]: suites('binds a store to node:test'),
  [`${CONTRACT_SUITES} Under a test runner > 3`]: binders,
  [`${CONTRACT_SUITES} Under a test runner > 4`]: binders,
  [`${CONTRACT_SUITES} Without a test runner > 1`]: suites('runs a contract without a test runner'),
  [`${CONTRACT_SUITES} Without a test runner > 2`]: commands('check stores of one’s own'),
  [`${CONTRACT_SUITES} A transport > 1`]: suites('binds transports'),
  [`${GUIDE} A store from nothing > 1`]: GUIDE_STORE,
  [`${GUIDE} Hold it to its promises > 1`]: GUIDE_STORE,
  [`${GUIDE} Bring it into the service > 1`]: guide('brings that store into the service'),
  [`${GUIDE} Bring it into the service > 2`]: commands('serve with a store of one’s own'),
  [`${GUIDE} A transport > 1`]: guide('to its contract, and all of it passes'),
  [`${GUIDE} An authenticator > 1`]: guide('to its contract, and all of it passes'),
  [`${DEPLOY} What stands in front > 1`]: operators('have an nginx before the service that alters no answer'),
  [`${DEPLOY} What stands in front > 2`]: operators('have a Caddyfile that Caddy takes'),
  [`${DEPLOY} As a unit of systemd > 1`]: operators('have a unit that systemd takes'),
  [`${DEPLOY} SQLite: copies for the worst case > 1`]: COPIES,
  [`${DEPLOY} SQLite: copies for the worst case > 2`]: COPIES,
};

/** What no test can run here, and why; the second half says what is checked all the same. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'README.md > animal-store > 1': 'a picture; that of docs/architecture.md is checked',
  'README.md > Run it > 1':
    'CI installs, and test/service/stopping.test.ts starts by npm; the scripts are there',
  'README.md > Test it > 1': 'it is what CI does; the scripts are there',
  'CONTRIBUTING.md > Contributing > 1': 'they end never, or are all that CI does; the scripts are there',
  'CONTRIBUTING.md > The MongoDB suites > 1':
    'needs the server that it names; settings and program are there',
  [`${GUIDE} Write an adapter > 1`]:
    'needs what npm has: npm run outsiders does it; the names of the package and of the container are right',
  [`${DEPLOY} In a line > 1`]: 'listens to everybody; scripts and settings are there',
  [`${DEPLOY} In a container > 1`]:
    'needs a container engine; its Node.js, program, scripts and settings are right',
  'docs/operations/mongodb.md > The animal store on MongoDB > 1':
    'needs a replica set; the driver takes the address, and the script is there',
  'docs/operations/mongodb.md > Moving there, and back > 1':
    'needs a replica set; the driver takes the address, and the options are there',
  'docs/operations/mongodb.md > Sharding > 1': 'needs a sharded cluster; it calls what it says',
};

/** A file of the repository whose content the block is, and which has a test of its own. */
const fileOf = ({ above, code }: CodeBlock): string | undefined => {
  const [, file] = /`(examples\/[\w./-]+)`/.exec(above) ?? [];
  return file !== undefined && existsSync(join(ROOT, file)) && read(file) === code ? file : undefined;
};

describe('The blocks of code in the documents', () => {
  it('are found', () => {
    expect(DOCUMENTS).to.include.members(['README.md', 'UPGRADING.md', 'docs/operations/deploy.md']);
    expect(CODE_BLOCKS).to.have.length.greaterThan(40);
    expect(new Set(CODE_BLOCKS.map(({ place }) => place)).size).to.equal(CODE_BLOCKS.length);
  });

  it('are run, are the content of a tested file, are checked by a tool, or say here why not', () => {
    const unknown = CODE_BLOCKS.filter(
      (block) =>
        SHOWN[block.place] === undefined && NOT_RUN[block.place] === undefined && fileOf(block) === undefined,
    );
    expect(unknown.map(({ place }) => place)).to.deep.equal([]);
  });

  it('have one account each, of a block that there is', () => {
    const places = new Set(CODE_BLOCKS.map(({ place }) => place));
    const accounts = [...Object.keys(SHOWN), ...Object.keys(NOT_RUN)];
    expect(accounts.filter((place) => !places.has(place))).to.deep.equal([]);
    expect(new Set(accounts).size).to.equal(accounts.length);
  });

  it('have tests that are there, and that take them from the document', () => {
    for (const [place, { by, test }] of Object.entries(SHOWN)) {
      const source = read(by);
      if (test !== undefined) expect(source.replaceAll('\\', ''), `${by} shows ${place}`).to.include(test);
      const [document = ''] = place.split(' > ');
      expect(source, `${by} reads ${document}`).to.include(document);
    }
  });

  it('have tests of the files that they are', () => {
    const files = CODE_BLOCKS.flatMap((block) => fileOf(block) ?? []);
    expect(files).to.have.length.greaterThan(5);
    const tests = ['test/examples/embedding.test.ts', 'test/examples/examples.test.ts'].map(read).join('\n');
    for (const file of files) expect(tests, file).to.include(`'${file.split('/').at(-1)}`);
  });
});
