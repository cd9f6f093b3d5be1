// Plants the faults of planted.jsonl in the source, one at a time, and prints which test case catches each. In `file`
// the text `find`, which occurs once, becomes `replace`; `notice` is what a user would notice; `tests` are specs below
// build/test, of which `grep` selects cases by title. `npm run planted -- TEXT` plants those with TEXT in their names.
// Tests of MongoDB use the same variables as `npm test`. Exit code: 0 if every fault was caught, else 1.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The longest time for one build or one run of mocha, in milliseconds. */
const TIME_LIMIT = 120_000;
const BUILD = ['node_modules/typescript/bin/tsc', '--build'];
// Without the configuration: it would add all specs.
const MOCHA =
  'node_modules/mocha/bin/mocha.js --no-config --exit --timeout 20000 --reporter json-stream'.split(
    ' ',
  );
const NO_CASE =
  'no case runs; cases on MongoDB need MONGODB_TEST_URI or MONGOMS_SYSTEM_BINARY (CONTRIBUTING.md)';
/** For the temporary files of tests, which may be ended before they remove them. */
using folder = mkdtempDisposableSync(join(tmpdir(), 'planted-'));

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'])
  process.on(name, () => stop.abort(new Error(`stopped by ${name}`)));

/** Runs Node.js. Resolves to what it printed and how it ended; rejects after a signal. */
async function run(args, signal) {
  const limits = { signal, timeout: TIME_LIMIT, killSignal: 'SIGKILL', maxBuffer: Infinity };
  const options = { ...limits, env: { ...process.env, TMPDIR: folder.path } };
  const running = promisify(execFile)(process.execPath, args, options);
  return running.then(
    (output) => ({ ...output, status: 0 }),
    ({ stdout, stderr, code }) => {
      signal?.throwIfAborted();
      return { stdout, stderr, status: code ?? 'no status: it took too long' };
    },
  );
}

/** Builds everything. Resolves to what the compiler reports, '' if nothing is wrong. */
async function compilerErrors() {
  const { stdout, status } = await run(BUILD, stop.signal);
  if (typeof status === 'string') throw new Error(`The compiler took more than ${TIME_LIMIT} ms.`);
  return status === 0 ? '' : stdout;
}

/** Runs the specs of a fault: the titles that failed, before the time limit too, and why the run as a whole failed. */
async function runCases({ tests, grep = '' }) {
  const specs = tests.map((spec) => `build/test/${spec}`);
  const { stdout, stderr, status } = await run([...MOCHA, '--fgrep', grep, ...specs], stop.signal);
  const events = stdout.match(/^\["(?:pass|fail)",.*\}\]$/gm) ?? [];
  const failed = events.map((line) => JSON.parse(line)).filter(([event]) => event === 'fail');
  const titles = failed.map(([, { fullTitle }]) => fullTitle);
  if (status !== 0) return { titles, failure: `mocha ended with ${status} ${stderr.slice(-500)}` };
  return { titles, failure: events.length > 0 ? '' : NO_CASE };
}

/** Plants a fault. Resolves to whether it was caught. A run that fails without naming a case does not say what is wrong. */
async function plant({ name, file, find, replace, ...selection }) {
  const text = readFileSync(file, 'utf8');
  try {
    writeFileSync(file, text.split(find).join(replace));
    const byCompiler = (await compilerErrors()) !== '';
    const { titles, failure } = byCompiler
      ? { titles: ['the compiler'] }
      : await runCases(selection);
    const count = titles.length;
    console.log(
      `${name}: ${count > 0 ? `caught (${count}): ${titles[0]}` : `NOT CAUGHT ${failure}`}`,
    );
    return count > 0;
  } finally {
    writeFileSync(file, text);
  }
}

const wanted = process.argv.slice(2).join(' ');
const lines = readFileSync('tools/planted.jsonl', 'utf8').trim().split('\n');
const faults = lines.map((line) => JSON.parse(line)).filter(({ name }) => name.includes(wanted));
if (faults.length === 0) throw new Error(`No fault has "${wanted}" in its name.`);
const status = ['status', '--porcelain', '--', ...faults.map(({ file }) => file)];
const changed = execFileSync('git', status, { encoding: 'utf8' });
if (changed !== '') throw new Error(`Commit the changes of these files first:\n${changed}`);
const unfit = faults.find(({ file, find }) => readFileSync(file, 'utf8').split(find).length !== 2);
if (unfit) throw new Error(`${unfit.name}: "find" does not occur once in ${unfit.file}.`);
let caught = 0;
try {
  const errors = await compilerErrors();
  // A case that fails without a fault would seem to catch one.
  if (errors) throw new Error(`Without a fault:\n${errors}`);
  for (const selection of new Set(
    faults.map(({ tests, grep }) => JSON.stringify({ tests, grep })),
  )) {
    const { titles, failure } = await runCases(JSON.parse(selection));
    if (failure) throw new Error(`Without a fault, ${selection}: ${titles[0] ?? failure}`);
  }
  for (const fault of faults) if (await plant(fault)) caught += 1;
} finally {
  await run(BUILD); // Also after a signal: the build must be that of the reverted source.
}
console.log(`${caught} of ${faults.length} faults caught`);
process.exitCode = caught === faults.length ? 0 : 1;
