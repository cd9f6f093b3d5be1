import { rejects } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Container } from 'inversify';
import { loadAdapters } from '../../src/bootstrap/load-adapters.js';
import { SettingsError } from '../../src/bootstrap/settings.js';

/** Looks like a module of another copy of Inversify. */
const adapter = (id: number): string =>
  `export const adapter = { id: ${id}, load({ bind }) { bind('id').toConstantValue(${id}); } };`;

describe('loadAdapters', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-load-'));
    file = join(folder, 'adapter.mjs');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('loads nothing when nothing is named', async () => {
    expect(await loadAdapters([])).to.deep.equal([]);
  });

  it('loads by path and by address, in the order of the names', async () => {
    writeFileSync(file, adapter(1));
    const address = `data:text/javascript,${encodeURIComponent(adapter(2))}`;
    const loaded = await loadAdapters([address, file, pathToFileURL(file).href]);
    const container = new Container();
    await container.loadAsync(...loaded);
    expect(container.getAll('id')).to.deep.equal([2, 1, 1]);
  });

  it('names the module that cannot bind what it brings', async () => {
    writeFileSync(file, "export const adapter = { id: 1, load() { throw new Error('no licence'); } };");
    const container = new Container();
    await rejects(
      container.loadAsync(...(await loadAdapters([file]))),
      (error) =>
        error instanceof SettingsError &&
        error.message === `ADAPTERS names ${file}, which failed: no licence`,
    );
  });

  it('says where the dot in front of a file is missing', async () => {
    await rejects(
      loadAdapters(['package.json']),
      /ADAPTERS names package\.json, .*\(the file is \.\/package\.json\)$/,
    );
  });

  it('finds packages by their names', async () => {
    // This one has no adapter; that it was found shows in the fault.
    await rejects(
      loadAdapters(['typebox']),
      /^SettingsError: ADAPTERS names typebox, which exports no adapter/,
    );
  });

  const FAULTS: ReadonlyArray<readonly [title: string, source: string | undefined, fault: string]> = [
    ['is not there', undefined, 'which cannot be loaded: Cannot find module '],
    [
      'exports no adapter',
      'export const Adapter = {};',
      'which exports no adapter: a ContainerModule of inversify',
    ],
    [
      'exports one that is none',
      'export const adapter = {};',
      'which exports no adapter: a ContainerModule of inversify',
    ],
    [
      'exports it as the default',
      'export default { id: 1, load() {} };',
      'which exports no adapter: a ContainerModule of inversify',
    ],
    ['throws', "throw new Error('no licence\\nsecond line');", 'which cannot be loaded: no licence'],
    ['throws what is no error', "throw 'in the towel';", 'which cannot be loaded: in the towel'],
    ['is no JavaScript', 'export const = 1;', 'which cannot be loaded: Unexpected token'],
    [
      'imports what is not there',
      "import 'no-such-package';",
      "which cannot be loaded: Cannot find package 'no-such-package'",
    ],
  ];
  for (const [title, source, fault] of FAULTS) {
    it(`names a module that ${title}, in one line`, async () => {
      if (source !== undefined) writeFileSync(file, source);
      await rejects(loadAdapters([file]), (error: unknown) => {
        expect(error).to.be.instanceOf(SettingsError);
        expect(error)
          .to.have.property('message')
          .that.satisfies((message: string) => message.startsWith(`ADAPTERS names ${file}, ${fault}`));
        expect(error).to.have.property('message').that.does.not.include('\n');
        return true;
      });
    });
  }
});
