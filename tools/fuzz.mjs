// Lets Schemathesis make up requests from the OpenAPI document that the built service publishes, valid ones and
// invalid ones, and hold the answers to it: all of its checks and phases, no failure, no warning.
// Usage: npm run fuzz [-- --cases 10000] [--seeds 1,2,3,random] [--stores memory,sqlite]: each seed on each store,
// at least so many requests each time.
import { execFile } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdtempDisposableSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startService } from './service.mjs';

const KEY = 'fuzzing-key-0123456789';
const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seeds: { type: 'string', default: '1,2,3,random' },
    stores: { type: 'string', default: 'memory,sqlite' },
  },
});
const cases = Number(values.cases);

/** Resolves to the output of a program. Rejects with it if the program fails. */
const run = (program, args, options) =>
  promisify(execFile)(program, args, { maxBuffer: Infinity, ...options });

/**
 * Installs Schemathesis as its lock file says, each file by its hash, once for each content of the lock file. Resolves to
 * the program.
 */
async function install() {
  const lock = join(root, 'tools/pypi/schemathesis.txt');
  const hash = createHash('sha256').update(readFileSync(lock)).digest('hex').slice(0, 8);
  const bin = join(root, `build/schemathesis-${hash}/bin`);
  const program = join(bin, 'schemathesis');
  if (!existsSync(program)) {
    await run('python3', ['-m', 'venv', join(bin, '..')]);
    const options = '--quiet --disable-pip-version-check --require-hashes --only-binary :all:';
    await run(join(bin, 'pip'), ['install', ...options.split(' '), '--requirement', lock]);
  }
  return program;
}

async function fuzz(schemathesis, store, seed) {
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'animal-store-fuzz-'));
  const folder = temporary.path;
  const storeUrl = store === 'memory' ? 'memory:' : `${store}:${join(folder, 'pets.db')}`;
  await using service = await startService({ STORE_URL: storeUrl, API_KEYS: KEY });
  cpSync(join(root, 'tools/fuzz'), folder, { recursive: true }); // it writes to where its settings are
  const began = performance.now();
  // At most so many for each of the three operations; some phases have cases of their own.
  const examples = Math.ceil(cases / 2.8);
  const options = `--checks all --phases examples,coverage,fuzzing,stateful --max-examples ${examples} --seed ${seed}`;
  const env = { ...process.env, API_KEY: KEY, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' };
  const args = ['run', new URL('/openapi.json', service.url).href, ...options.split(' ')];
  const {
    code = 0,
    stdout,
    stderr,
  } = await run(schemathesis, args, { cwd: folder, env }).catch((error) => error);
  const generated = Number(/^ {2}(\d+) generated/m.exec(stdout)?.[1] ?? 0);
  const seconds = Math.round((performance.now() - began) / 1000);
  const verdict = code === 0 ? 'no fault' : 'FAULTS';
  console.log(`seed ${seed} on ${store}: ${generated} cases in ${seconds} s, ${verdict}`);
  if (code !== 0) console.log(`${stdout}${stderr}`);
  else if (generated < cases) console.log(`these are fewer than ${cases}`);
  return code === 0 && generated >= cases;
}

const schemathesis = await install();
const seeds = values.seeds
  .split(',')
  .map((seed) => (seed === 'random' ? randomInt(2 ** 31) : Number(seed)));
for (const seed of seeds) {
  for (const store of values.stores.split(',')) {
    if (!(await fuzz(schemathesis, store, seed))) process.exitCode = 1;
  }
}
