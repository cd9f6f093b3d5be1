import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { read } from './code-blocks.js';

const PAGE = read('docs/write-an-adapter.md');

/** What the first group of a pattern captures. */
const captured = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';

/** The module on the page with this name in its first line. */
const moduleNamed = (name: string): string =>
  captured(PAGE, new RegExp(`// ${name}\n([^]*?)\`\`\``));

/** Runs the suite of the page on a store; resolves to what it prints. */
async function report(store: string): Promise<string> {
  const cwd = temporaryFolder(import.meta.dirname); // in this package, whose name the programs import
  writeFileSync(join(cwd, 'small-store.mjs'), store);
  writeFileSync(join(cwd, 'contract.test.mjs'), moduleNamed('contract.test.mjs'));
  const args = ['--test', '--test-reporter=spec', 'contract.test.mjs'];
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
  const run = promisify(execFile)(process.execPath, args, { cwd, env });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return stdout;
}

describe('The small store of docs/write-an-adapter.md', function () {
  this.timeout(120_000);
  afterEach(removeFolders);
  const store = moduleNamed('small-store.mjs');

  it('passes the contract suite', async () => {
    const printed = await report(store);
    expect(printed).to.match(/^ℹ fail 0$/m);
    expect(Number(captured(printed, /^ℹ pass (\d+)$/m)), 'cases').to.be.above(10);
  });

  it('fails with the output on the page when it has the mistake that the page names', async () => {
    const printed = await report(store.replace('pet.id > after', 'pet.id >= after'));
    const shown = captured(PAGE, /```text\n([^]*?)```/);
    const lines = shown.split('\n').map((line) => line.trim());
    expect(lines.filter((line) => !printed.includes(line))).to.deep.equal([]);
    expect(lines).to.have.length.above(10);
  });
});
