import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const guide = readFileSync(join(root, 'docs/write-an-adapter.md'), 'utf8');

/** The code blocks by the file name in their first line. */
const files = new Map(
  [...guide.matchAll(/```js\n(\/\/ ([\w.-]+)\n[^]*?)```/g)].map(([, code = '', name = '']) => [name, code]),
);

describe('The guide to adapters', function () {
  this.timeout(120_000);

  let folder: string;
  before(() => {
    // Within the package its own name can be imported.
    folder = mkdtempSync(join(dirname(fileURLToPath(import.meta.url)), 'guide-'));
    for (const [name, code] of files) {
      // Ten thousand times to the disk is for those who follow the guide.
      writeFileSync(join(folder, name), code.replace('{ describe, it, after }', '$&, { animals: 300 }'));
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  const output = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 24 })).stdout;

  it('names the file of every program in it', () => {
    expect(guide.match(/```js\n/g)).to.have.length(files.size);
  });

  it('builds a store that passes the contract as it is bound there', async () => {
    const report = await output('--test', '--test-reporter=tap', 'contract.test.mjs');
    expect(report).to.match(/^# fail 0$/m);
    expect(report).to.include('with 300 animals, not 10000');
    expect(Number(/^# pass (\d+)$/m.exec(report)?.[1])).to.be.greaterThan(90);
  });

  it('brings that store into the service, where check-store finds no fault with it', async () => {
    const program = join(root, 'build/src/bootstrap/main.js');
    const report = await output(
      program,
      'check-store',
      './adapter.mjs',
      '--url',
      'lines:{folder}/pets',
      '--animals',
      '300',
    );
    expect(report).to.match(/^PetRepository: \d+ passed, 0 failed/m);
  });

  it('makes no store with it for a command that wants one that is there', async () => {
    const env = { ...process.env, ADAPTERS: './adapter.mjs', STORE_URL: 'lines:nowhere', API_KEYS: 'a-key' };
    const listing = run(process.execPath, [join(root, 'build/src/bootstrap/main.js'), 'keys', 'list'], {
      cwd: folder,
      env,
    });
    const error: unknown = await listing.catch((reason: unknown) => reason);
    expect(error).to.include({ code: 1 }).and.to.have.property('stderr').that.includes('ENOENT');
    expect(existsSync(join(folder, 'nowhere'))).to.equal(false);
  });

  for (const name of ['transport.mjs', 'authenticator.mjs']) {
    it(`holds what is in ${name} to its contract, and all of it passes`, async () => {
      const lines = (await output(name)).trim().split('\n');
      expect(lines.filter((line) => !/^(?:passed|skipped) /.test(line))).to.deep.equal([]);
      expect(lines.filter((line) => line.startsWith('passed ')).length).to.be.greaterThan(4);
    });
  }
});
