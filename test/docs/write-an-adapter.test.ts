import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ContainerModule } from 'inversify';
import { TOKENS, createContainer } from '../../src/bootstrap/service/container.js';
import { readSettings } from '../../src/bootstrap/service/settings.js';
import { petRepositoryContract, runContract } from '../contract/index.js';
import { runLine, type Outcome } from '../bootstrap/test-io.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Where a flush to the disk costs nothing. */
const FAST = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** The programs of a page by the name in their first line. */
const programsOf = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/```js\n\/\/ ([\w.-]+)\n([^]*?)```/g)].map(([, name = '', code = '']) => [name, code]),
  );

/** Writes the programs of a page into a folder of this package, whose name they import, and runs them. */
class Page {
  readonly text: string;
  readonly programs: ReadonlyMap<string, string>;
  readonly #folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'page-'));

  /** @param bound replaces the runner in calls of `bindContract`, to add options */
  constructor(document: string, bound: string) {
    this.text = readFileSync(join(root, document), 'utf8');
    this.programs = programsOf(this.text);
    for (const [name, code] of this.programs) {
      writeFileSync(join(this.#folder, name), code.replaceAll('{ describe, it, after }', bound));
    }
  }

  /** Runs a command line in the folder. */
  async line(line: string, env: Record<string, string> = {}): Promise<Outcome> {
    const before = process.cwd();
    process.chdir(this.#folder);
    return runLine(line, env).finally(() => process.chdir(before));
  }

  async output(args: readonly string[]): Promise<string> {
    const options = { cwd: this.#folder, maxBuffer: 2 ** 24, env: { ...process.env, TMPDIR: FAST } };
    return (await run(process.execPath, args, options)).stdout;
  }

  path(file: string): string {
    return join(this.#folder, file);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

const passed = (report: string): number => Number(/^# pass (\d+)$/m.exec(report)?.[1]);

describe('docs/write-an-adapter.md', function () {
  this.timeout(120_000);

  let page: Page;
  before(() => {
    page = new Page('docs/write-an-adapter.md', '{ describe, it, after }, { animals: 110 }');
  });
  after(() => page.remove());

  it('builds a store that passes its contracts', async () => {
    expect([...page.programs.keys()]).to.deep.equal([
      'file-store.mjs',
      'store.mjs',
      'contract.test.mjs',
      'run.mjs',
      'adapter.mjs',
      'transport.test.mjs',
    ]);
    const report = await page.output(['--test', '--test-reporter=tap', 'contract.test.mjs']);
    expect(report).to.match(/^# fail 0$/m);
    expect(report).to.include('# SKIP the store cannot be copied');
    expect(report).to.include('# SKIP the subject has no `another`');
    expect(passed(report)).to.be.greaterThan(140);
  });

  it('binds it to mocha without the import and the last argument', async () => {
    const program = page.programs.get('contract.test.mjs') ?? '';
    const bound = program
      .replace("import { after, describe, it } from 'node:test';\n", '')
      .replace(', { describe, it, after })', ')');
    expect(bound).to.have.length.lessThan(program.length - 60);
    // A part of each contract, and fewer animals: the case above runs all of it.
    const options = "undefined, { animals: 110, only: (name) => name.includes('clos') }";
    writeFileSync(page.path('mocha.test.mjs'), bound.replace('openStore)', `openStore, ${options})`));
    const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
    const report = await page.output([mocha, '--no-config', '--reporter', 'json', 'mocha.test.mjs']);
    const { stats }: { stats: Record<string, number> } = JSON.parse(report);
    expect(stats).to.include({ failures: 0 });
    expect(stats['passes']).to.be.greaterThan(5);
  });

  it('runs a contract of it without a test runner', async () => {
    const program = page.programs.get('run.mjs') ?? '';
    writeFileSync(page.path('run-fewer.mjs'), program.replace('1000', '110'));
    const report = await page.output(['run-fewer.mjs']);
    expect(report).to.match(/^skipped: .*: the subject has no `another`$/m);
    expect(report).to.not.include('failed: ');
  });

  it('names an example that decorates a store, which keeps its promises', async () => {
    const example = 'examples/slow-lists.mjs';
    expect(page.text).to.include(`(../${example})`);
    const { adapter } = (await import(join(root, example))) as { adapter: ContainerModule };
    const results = await runContract(
      petRepositoryContract,
      async () => {
        const container = await createContainer(readSettings({ STORE_URL: 'memory:' }), [adapter]);
        const pets = await container.getAsync(TOKENS.petRepository);
        return { pets, dispose: () => pets.close() };
      },
      { animals: 110 },
    );
    expect(results.filter(({ outcome }) => outcome === 'failed')).to.deep.equal([]);
  });

  it('binds transports', async () => {
    // A part of the contract: other tests run all of it.
    const only = "(name, topic) => topic === 'paths'";
    const program = page.programs.get('transport.test.mjs') ?? '';
    const part = program.replaceAll('{ describe, it, after }', `{ describe, it, after }, { only: ${only} }`);
    writeFileSync(page.path('transport-part.test.mjs'), part);
    const report = await page.output(['--test', '--test-reporter=tap', 'transport-part.test.mjs']);
    expect(report).to.match(/^# fail 0$/m);
    expect(passed(report)).to.be.greaterThan(30);
  });
});
