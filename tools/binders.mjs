// Runs the contract suites under each test runner, installed from its own package.json, and compares the runner's report
// with the results of runContract. Runs the tests in test/binders and the programs of docs/contract-suites.md.
// Usage: npm run binders [-- RUNNER...]; default: all four.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Resolves to the exit code and the output: tests are expected to fail. */
const run = (command, args, cwd) =>
  new Promise((resolve, reject) => {
    execFile(command, args, { cwd, maxBuffer: 100_000_000 }, (error, out, err) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: error?.code ?? 0, out, err });
    });
  });

/** The runners' names for outcomes. */
const OUTCOMES = { passed: 'passed', failed: 'failed', skipped: 'skipped', pending: 'skipped' };

const fromJest = (out) =>
  JSON.parse(out).testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ title, status }) => [title, OUTCOMES[status]]),
  );

/** Reads each runner's report: titles and outcomes. */
const REPORTS = {
  mocha(out) {
    const { passes, failures, pending } = JSON.parse(out);
    return Object.entries({ passed: passes, failed: failures, skipped: pending }).flatMap(
      ([outcome, tests]) => tests.map(({ title }) => [title, outcome]),
    );
  },
  'node-test': (out) =>
    // Suites have lines too; what follows them differs.
    [
      ...out.matchAll(
        /^ +(not )?ok \d+ - (.*?)(?: # SKIP (.*))?\n +---\n +duration_ms: .*\n +type: 'test'/gm,
      ),
    ].map(([, not, title, skip]) => [
      title.replaceAll(/\\([\\#])/g, '$1'),
      skip !== undefined ? 'skipped' : not ? 'failed' : 'passed',
    ]),
  vitest: fromJest,
  jest: fromJest,
};

/** Titles without what a binder adds, with their outcomes, in one order. */
const comparable = (results) =>
  results.map(([title, outcome]) => `${title.replace(/ \(skipped: .*\)$/s, '')}: ${outcome}`).sort();

/** Writes the programs of the page into the folders of their runners. */
async function writeDocumented(folder, runners) {
  const page = await readFile(join(root, 'docs/contract-suites.md'), 'utf8');
  const programs = new Map(
    [...page.matchAll(/```js\n\/\/ ([\w.-]+)\n([^]*?)```/g)].map(([, name, code]) => [name, code]),
  );
  for (const runner of ['.', ...runners])
    await writeFile(join(folder, runner, 'store.mjs'), programs.get('store.mjs'));
  for (const runner of runners) {
    await writeFile(join(folder, runner, 'store.test.js'), programs.get(`${runner}.test.mjs`));
  }
}

async function expectedResults(folder) {
  const { runContract, storeContracts } = await import('animal-store/contract');
  const { BOUND } = await import(pathToFileURL(join(folder, 'subjects.mjs')).href);
  const { openStore } = await import(pathToFileURL(join(folder, 'store.mjs')).href);
  const all = [...storeContracts.map((contract) => ['', contract, openStore]), ...BOUND];
  const results = [];
  for (const [, contract, open, options] of all)
    results.push(...(await runContract(contract, open, options)));
  return results;
}

const runners = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(REPORTS);
const folder = await mkdtemp(join(tmpdir(), 'animal-store-binders-'));
try {
  await cp(join(root, 'test/binders'), folder, { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules', 'animal-store'));
  await writeDocumented(folder, runners);
  const results = await expectedResults(folder);
  for (const runner of runners) {
    const cwd = join(folder, runner);
    const installed = runner === 'node-test' ? { code: 0 } : await run('npm', ['ci'], cwd);
    if (installed.code !== 0) throw new Error(`npm ci failed for ${runner}:\n${installed.err}`);
    const { out, err } = await run('npm', ['--silent', 'test'], cwd);
    const expected = comparable(results.map(({ name, outcome }) => [name, outcome]));
    let reported;
    try {
      reported = comparable(REPORTS[runner](out));
    } catch (cause) {
      throw new Error(`The report of ${runner} cannot be read:\n${out.slice(0, 2000)}\n${err}`, { cause });
    }
    const difference = [...new Set(expected).symmetricDifference(new Set(reported))];
    const isEqual = difference.length === 0 && reported.length === expected.length;
    console.log(`${runner}: ${reported.length} tests, ${isEqual ? 'as' : 'not as'} runContract`);
    for (const line of difference.slice(0, 20)) {
      console.log(`  ${expected.includes(line) ? 'missing' : 'only here'}: ${line}`);
    }
    if (!isEqual) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
