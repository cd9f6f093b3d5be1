import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Container } from 'inversify';
import { loadAdapters } from '../../../src/bootstrap/service/load-adapters.js';
import { TOKENS } from '../../../src/bootstrap/service/wiring.js';
import { removeFolders, temporaryFolder } from '../../temporary-folder.js';

/** Looks like a module that another copy of Inversify made. */
const adapter = (id: number): string =>
  `export const adapter = { id: ${id}, load({ bind }) { bind('id').toConstantValue(${id}); } };`;

const LATE = 'It did not load within 0.1 s.';
const NO_ADAPTER = 'It exports no adapter, a function or a ContainerModule of inversify.';

/** Counts the timers that keep the process alive. Mocha starts its own when a case first waits. */
async function timers(): Promise<number> {
  await nextTurn();
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

describe('The modules of ADAPTERS', () => {
  let folder: string;
  let file: string;
  const cwd = process.cwd();
  beforeEach(() => {
    folder = temporaryFolder();
    file = join(folder, 'adapter.mjs');
    process.chdir(folder);
  });
  afterEach(() => {
    process.chdir(cwd);
    removeFolders();
  });

  it('are found by path, URL and as packages of the working directory, and load in order', async () => {
    writeFileSync(file, adapter(1));
    mkdirSync('node_modules/@others/shelf', { recursive: true });
    writeFileSync(
      'node_modules/@others/shelf/package.json',
      '{"type":"module","exports":"./shelf.js"}',
    );
    writeFileSync('node_modules/@others/shelf/shelf.js', adapter(3));
    const url = `data:text/javascript,${encodeURIComponent(adapter(2))}`;
    const specifiers = [url, file, './adapter.mjs', pathToFileURL(file).href, '@others/shelf'];
    const container = new Container();
    const before = await timers();

    expect(await loadAdapters(specifiers, container)).to.deep.equal([]);
    expect(await timers()).to.be.below(before + specifiers.length);
    expect(container.getAll('id')).to.deep.equal([2, 1, 1, 1, 3]);
  });

  it('may be functions, which import nothing, beside modules of Inversify', async () => {
    writeFileSync(
      file,
      `export const adapter = async ({ bind, bindFrom, replace, replaceFrom, decorate, TOKENS: t }) => {
         await null;
         bind(t.clock, '/a');
         replace(t.clock, '/b');
         bindFrom(t.store, (context) => 'http:' + context.get(t.clock));
         replaceFrom(t.store, (context) => 'https:' + context.get(t.clock));
         decorate(t.store, (url) => url + '/v1');
       };`,
    );
    writeFileSync('module.mjs', adapter(1));
    const container = new Container();

    expect(await loadAdapters(['./adapter.mjs', './module.mjs'], container)).to.deep.equal([]);
    expect([container.get(TOKENS.store), container.get('id')]).to.deep.equal(['https:/b/v1', 1]);
  });

  it('that are files need ./ before their names; a missing package is named alone', async () => {
    writeFileSync(file, adapter(1));
    mkdirSync('dist');
    writeFileSync('dist/adapter.js', adapter(1));
    for (const name of ['adapter.mjs', 'dist/adapter.js'])
      expect(await loadAdapters([name], new Container())).to.deep.equal([
        `ADAPTERS: ${name} cannot be loaded: It is a file: write ./${name}.`,
      ]);
    for (const name of ['no-adapter.mjs', '@others/none', 'dist'])
      expect(await loadAdapters([name], new Container())).to.deep.equal([
        `ADAPTERS: ${name} cannot be loaded: Cannot find package '${name}'`,
      ]);
  });

  const FAULTS: ReadonlyArray<readonly [title: string, source: string | undefined, fault: string]> =
    [
      ['does not exist', undefined, 'Cannot find module '],
      ['exports no adapter', 'export const Adapter = {};', NO_ADAPTER],
      ['exports another adapter', 'export const adapter = {};', NO_ADAPTER],
      [
        'exports something else with an id',
        'export const adapter = { id: 1, load: true };',
        NO_ADAPTER,
      ],
      [
        'fails to load',
        "export const adapter = { id: 1, load() { throw new Error('no\\nlicence'); } };",
        'no',
      ],
      ['is a function that throws', 'export const adapter = () => null.licence;', 'Cannot read'],
      ['is a class', 'export const adapter = class {};', 'Class constructor adapter cannot'],
      ['exports it as the default', 'export default { id: 1, load() {} };', NO_ADAPTER],
      ['throws', "throw new Error('no licence\\nsecond line');", 'no licence'],
      ['throws a text', "throw 'in the towel';", 'in the towel'],
      ['is not JavaScript', 'export const = 1;', 'Unexpected token'],
      ['imports what is missing', "import 'no-such-package';", "Cannot find package 'no-such"],
      ['never binds', 'export const adapter = () => new Promise(() => {});', LATE],
      ['never loads', 'export const adapter = { id: 1, load: () => new Promise(() => {}) };', LATE],
      ['never resolves', 'await new Promise(() => {});', LATE],
    ];
  it('that cannot be used are all named, each in one line', async () => {
    const names = FAULTS.map(([, source], index) => {
      if (source !== undefined) writeFileSync(`${index}.mjs`, source);
      return `./${index}.mjs`;
    });
    const firstLate = FAULTS.findIndex(([, , fault]) => fault === LATE);
    const faults = [
      ...(await loadAdapters(names.slice(0, firstLate), new Container())),
      ...(await loadAdapters(names.slice(firstLate), new Container(), 100)),
    ];

    expect(faults).to.have.length(FAULTS.length);

    for (const [index, [title, , fault]] of FAULTS.entries()) {
      expect(faults[index], title).to.match(/^[^\n]*$/);
      expect(
        faults[index]?.startsWith(`ADAPTERS: ./${index}.mjs cannot be loaded: ${fault}`),
        `${title}: ${faults[index]}`,
      ).to.equal(true);
    }
  });
});
