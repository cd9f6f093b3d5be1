import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createContainer } from '../../src/bootstrap/service/container.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';
import type { Store } from '../../src/application/ports/store.js';
import {
  petRepositoryContract,
  runContract,
  storeContracts,
  storeSubject,
  type StoreSubject,
} from '../contract/index.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { ROOT, read } from './code-blocks.js';
import { TOKENS, type Adapter } from '../../src/bootstrap/service/wiring.js';

/** Where a flush to the disk costs nothing. */
const FAST = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const PAGE = read('docs/write-an-adapter.md');
/** The programs of the page by the name in their first line. */
const PROGRAMS = new Map(
  [...PAGE.matchAll(/```js\n\/\/ ([\w.-]+)\n([^]*?)```/g)].map(([, name = '', code = '']) => [
    name,
    code,
  ]),
);

const passed = (report: string): number => Number(/^# pass (\d+)$/m.exec(report)?.[1]);

/** Runs all contracts; resolves to why cases were skipped. */
async function skippedOn(open: () => Promise<StoreSubject>): Promise<readonly unknown[]> {
  const skipped = new Set<string>();
  for (const contract of storeContracts)
    for (const result of await runContract(contract, open, { animals: 110 })) {
      expect(result.outcome, `${result.name}: ${String(result.error)}`).to.not.equal('failed');
      if (result.reason !== undefined) skipped.add(result.reason);
    }
  return [...skipped];
}

const nothing = async (): Promise<void> => {};

describe('docs/write-an-adapter.md', function () {
  this.timeout(120_000);

  let folder: string;
  const write = (name: string, code: string): void => writeFileSync(join(folder, name), code);
  const output = async (...args: readonly string[]): Promise<string> => {
    const options = { cwd: folder, maxBuffer: 2 ** 24, env: { ...process.env, TMPDIR: FAST } };
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  };
  before(() => {
    folder = temporaryFolder(import.meta.dirname); // in this package, whose name the programs import
    for (const [name, code] of PROGRAMS)
      write(name, code.replaceAll('{ without }', '{ without, animals: 110 }'));
  });
  after(removeFolders);

  it('builds a store that passes its contracts', async () => {
    expect([...PROGRAMS.keys()]).to.deep.equal([
      'small-store.mjs',
      'store.mjs',
      'contract.test.mjs',
      'run.mjs',
      'adapter.mjs',
      'transport.test.mjs',
    ]);
    const report = await output('--test', '--test-reporter=tap', 'contract.test.mjs');
    expect(report).to.match(/^# fail 0$/m);
    expect(report).to.match(/^# skipped 0$/m);
    expect(passed(report), 'cases that passed').to.be.above(70);
  });

  it('has a small store, which keeps every promise but the optional ones', async () => {
    const small = (await import(join(folder, 'small-store.mjs'))) as { openSmallStore(): Store };
    const open = () => storeSubject(async () => small.openSmallStore(), nothing, { ordered: true });
    expect(await skippedOn(open)).to.have.members([
      'the subject lacks `durable`',
      'the subject lacks `shared`',
      'the subject lacks `claims`',
      'the subject lacks `apiKeys`',
      'the subject lacks `transfer`',
      'the subject lacks `changes`',
    ]);
  });

  it('names a store in a file, which keeps claims, too', async () => {
    const example = 'examples/stores/file-store.mjs';
    expect(PAGE).to.include(`(../${example})`);
    const { openFileStore } = (await import(join(ROOT, example))) as {
      readonly openFileStore: (path: string) => Promise<Store>;
    };
    const open = async () => {
      const path = join(temporaryFolder(FAST), 'pets');
      const options = { durable: true, ordered: true };
      return storeSubject(() => openFileStore(path), nothing, options);
    };
    expect(await skippedOn(open)).to.not.include('the subject lacks `claims`');
  });

  it('runs a contract of it without a test runner', async () => {
    const program = PROGRAMS.get('run.mjs') ?? '';
    write('run-fewer.mjs', program.replace('1000', '110'));
    const report = await output('run-fewer.mjs');
    expect(report).to.match(/^skipped: .*: the subject lacks `shared`$/m);
    expect(report).to.not.include('failed: ');
  });

  it('names an example that decorates a store, which keeps its promises', async () => {
    const example = 'examples/slow-lists.mjs';
    expect(PAGE).to.include(`(../${example})`);
    const { adapter } = (await import(join(ROOT, example))) as { adapter: Adapter };
    const results = await runContract(
      petRepositoryContract,
      async () => {
        const container = await createContainer(readSettings({ STORE_URL: 'memory:' }), [adapter]);
        const store = await container.getAsync(TOKENS.store);
        const pets = await container.getAsync(TOKENS.petRepository);
        return Object.assign(store, { pets, dispose: () => store.close() });
      },
      { animals: 110 },
    );
    expect(results.filter(({ outcome }) => outcome === 'failed')).to.deep.equal([]);
  });

  it('binds transports', async () => {
    const report = await output('--test', '--test-reporter=tap', 'transport.test.mjs');
    expect(report).to.match(/^# fail 0$/m);
    expect(passed(report), 'tests that passed').to.be.above(500);
  });
});
