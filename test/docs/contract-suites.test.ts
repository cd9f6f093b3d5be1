import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as entry from '../contract/index.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(join(root, 'docs/contract-suites.md'), 'utf8');

/** The programs by the name in their first line. */
const programs = new Map(
  [...page.matchAll(/```js\n\/\/ ([\w.-]+)\n([^]*?)```/g)].map(([, name = '', code = '']) => [name, code]),
);

// Those for vitest and jest are run by `npm run binders`, which installs these.
describe('The page on the contract suites', function () {
  this.timeout(120_000);

  let folder: string;
  beforeEach(() => {
    // Within the package its own name can be imported.
    folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'suites-'));
    writeFileSync(join(folder, 'store.mjs'), programs.get('store.mjs') ?? '');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const output = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 24 })).stdout;

  function write(program: string): string {
    writeFileSync(join(folder, program), programs.get(program) ?? '');
    return program;
  }

  it('names the file of every program in it, and every contract there is', () => {
    expect(page.match(/```js\n/g)).to.have.length(programs.size);
    for (const name of Object.keys(entry).filter((exported) => /Contracts?$/.test(exported))) {
      if (name !== 'bindContract' && name !== 'runContract') expect(page).to.include(`| \`${name}\``);
    }
  });

  it('binds a store to node:test', async () => {
    const report = await output('--test', '--test-reporter=tap', write('node-test.test.mjs'));
    expect(report).to.match(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(report)?.[1])).to.be.greaterThan(250);
    expect(report).to.include('# SKIP the adapter does not declare itself durable');
    expect(report).to.include('# SKIP the store cannot be copied');
  });

  it('binds a store to mocha', async () => {
    const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
    const report = await output(mocha, '--no-config', '--reporter', 'json', write('mocha.test.mjs'));
    const { stats }: { stats: Record<string, number> } = JSON.parse(report);
    expect(stats).to.include({ failures: 0 });
    expect(stats['passes']).to.be.greaterThan(250);
  });

  it('runs a contract without a test runner', async () => {
    const report = await output(write('run.mjs'));
    expect(report).to.include(
      'skipped: goes on with greater ids after closing and opening again: the adapter does not declare itself durable\n',
    );
    expect(report).to.include('note: meets each of thousands of animals');
    expect(report).to.not.include('failed: ');
    expect(report).to.match(/\n\[\]\n$/);
  });

  it('has check-store check a store', async () => {
    const [, line = ''] = /```sh\nanimal-store (.*)\n/.exec(page) ?? [];
    const report = await output(join(root, 'build/src/bootstrap/main.js'), ...line.split(' '));
    expect(report).to.match(/^PetRepository: \d+ passed, 0 failed, \d+ skipped/);
    expect(report).to.match(/\nDeprecatedCallRepository: 0 passed, 0 failed, \d+ skipped/);
  });

  it('binds transports', async () => {
    const report = await output('--test', '--test-reporter=tap', write('transport.test.mjs'));
    expect(report).to.match(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(report)?.[1])).to.be.greaterThan(2500);
    expect(report).to.include('# SKIP needs a socket: ');
  });
});
