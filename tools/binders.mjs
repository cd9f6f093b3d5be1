// Runs the contract suites under every test runner that they are bound to, each installed from a package.json of
// its own, and holds what the runner reports to what runContract finds without any. Beside the tests in
// test/binders it runs those that docs/contract-suites.md shows for the runner.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Resolves to the exit code and what was printed: that tests fail is expected. */
const run = (command, args, cwd) =>
  new Promise((resolve, reject) => {
    execFile(command, args, { cwd, maxBuffer: 100_000_000 }, (error, out, err) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: error?.code ?? 0, out, err });
    });
  });

// The runners' own names for outcomes.
const OUTCOMES = { passed: 'passed', failed: 'failed', skipped: 'skipped', pending: 'skipped' };

const fromJest = (out) =>
  JSON.parse(out).testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ title, status }) => [title, OUTCOMES[status]]),
  );

/** What each runner's report says of each test. */
const REPORTS = {
  mocha(out) {
    const { passes, failures, pending } = JSON.parse(out);
    return Object.entries({ passed: passes, failed: failures, skipped: pending }).flatMap(
      ([outcome, tests]) => tests.map(({ title }) => [title, outcome]),
    );
  },
  'node-test': (out) =>
    // Suites are lines like those of tests, and are told by what stands below them.
    [
      ...out.matchAll(
        /^ +(not )?ok \d+ - (.*?)(?: # SKIP (.*))?\n +---\n +duration_ms: .*\n +type: 'test'/gm,
      ),
    ].map(([, not, title, skip]) => [unescape(title), outcomeOf(not, skip)]),
  vitest: fromJest,
  jest: fromJest,
};

const outcomeOf = (not, skip) => (skip !== undefined ? 'skipped' : not ? 'failed' : 'passed');
const unescape = (title) => title.replaceAll(/\\([\\#])/g, '$1');

/** Titles without what a binder puts behind them, each with its outcome, in an order that all runners share. */
const comparable = (told) =>
  told.map(([title, outcome]) => `${title.replace(/ \((?:skipped|note): .*\)$/s, '')}: ${outcome}`).sort();

/** Puts the programs of the page into the folders of their runners. */
async function writeDocumented(folder) {
  const page = await readFile(join(root, 'docs/contract-suites.md'), 'utf8');
  const programs = new Map(
    [...page.matchAll(/```js\n\/\/ ([\w.-]+)\n([^]*?)```/g)].map(([, name, code]) => [name, code]),
  );
  await writeFile(join(folder, 'store.mjs'), programs.get('store.mjs'));
  for (const runner of Object.keys(REPORTS)) {
    await writeFile(join(folder, runner, 'store.mjs'), programs.get('store.mjs'));
    await writeFile(join(folder, runner, 'store.test.js'), programs.get(`${runner}.test.mjs`));
  }
}

async function expectedResults(folder) {
  const { runContract, storeContracts } = await import('animal-store/contract');
  const { BOUND } = await import(pathToFileURL(join(folder, 'subjects.mjs')).href);
  const { openStore } = await import(pathToFileURL(join(folder, 'store.mjs')).href);
  const results = [];
  for (const contract of storeContracts) results.push(...(await runContract(contract, openStore)));
  for (const [, contract, open, options] of BOUND)
    results.push(...(await runContract(contract, open, options)));
  return results;
}

const folder = await mkdtemp(join(tmpdir(), 'animal-store-binders-'));
try {
  await cp(join(root, 'test/binders'), folder, { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules', 'animal-store'));
  await writeDocumented(folder);
  const results = await expectedResults(folder);
  let failed = false;
  for (const [runner, read] of Object.entries(REPORTS)) {
    const cwd = join(folder, runner);
    const installed = runner === 'node-test' ? { code: 0 } : await run('npm', ['ci'], cwd);
    if (installed.code !== 0) throw new Error(`npm ci failed for ${runner}:\n${installed.err}`);
    const { out, err } = await run('npm', ['--silent', 'test'], cwd);
    // jest does not try what is not declared.
    const expected = comparable(
      results.map(({ name, outcome, capability }) => [
        name,
        runner === 'jest' && capability?.declared === false ? 'skipped' : outcome,
      ]),
    );
    let told;
    try {
      told = comparable(read(out));
    } catch (error) {
      throw new Error(
        `${runner} reports what cannot be read:\n${out.slice(0, 2000)}\n${err.slice(0, 5000)}`,
        {
          cause: error,
        },
      );
    }
    const difference = [...new Set(expected).symmetricDifference(new Set(told))];
    const count = (outcome) => told.filter((line) => line.endsWith(`: ${outcome}`)).length;
    console.log(
      `${runner}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped: ` +
        (difference.length === 0 && told.length === expected.length
          ? 'as it has to be'
          : 'not as it has to be'),
    );
    if (difference.length === 0 && told.length === expected.length) continue;
    failed = true;
    for (const line of difference.slice(0, 20)) {
      console.log(`  ${expected.includes(line) ? 'not told' : 'told'}: ${line}`);
    }
  }
  process.exitCode = failed ? 1 : 0;
} finally {
  await rm(folder, { recursive: true });
}
