// Sends valid and invalid requests, which Schemathesis generates from the OpenAPI document of the built service, and
// checks the responses: all of its checks and phases, no failure, no warning.
//   npm run fuzz [-- --cases 10000] [--seed N]
// `--cases` is the lowest number of requests.
import { execFile } from 'node:child_process';
import { createHash, randomInt } from 'node:crypto';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { startService } from './service.mjs';
import { temporaryFolder } from './temporary-folder.mjs';

const KEY = 'fuzzing-key-0123456789';
const LOCK = 'tools/pypi/schemathesis.txt';
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});

/** Resolves to the output of a program. Rejects with it if the program fails. */
const run = (program, args, options) =>
  promisify(execFile)(program, args, { maxBuffer: Infinity, ...options });

/** Installs Schemathesis as its lock file says, once for each content of the lock file. Resolves to the program. */
async function install() {
  const hash = createHash('sha256').update(readFileSync(LOCK)).digest('hex').slice(0, 8);
  const folder = join(process.cwd(), `build/schemathesis-${hash}`);
  const program = join(folder, 'bin/schemathesis');
  if (!existsSync(program)) {
    await run('python3', ['-m', 'venv', folder]);
    const options = '--quiet --disable-pip-version-check --require-hashes --only-binary :all: -r';
    await run(join(folder, 'bin/pip'), ['install', ...options.split(' '), LOCK]);
  }
  return program;
}

const schemathesis = await install();
using folder = temporaryFolder();
const cwd = folder.path;
await using service = await startService({
  STORE_URL: `sqlite:${join(cwd, 'pets.db')}`,
  API_KEYS: KEY,
  REQUEST_DEADLINE: '60s', // a 503 of a busy machine would fail a check
});
cpSync('tools/fuzz', cwd, { recursive: true }); // Schemathesis writes into the folder of its settings
// The limit counts for each operation and phase: 2.8 requests for each example were measured.
const cases = Number(values.cases);
const examples = Math.ceil(cases / 2.8);
const args = [
  ...'run --checks all --phases examples,coverage,fuzzing,stateful'.split(' '),
  `--max-examples=${examples}`,
  `--seed=${values.seed}`,
  new URL('/openapi.json', service.url).href,
];
const env = { ...process.env, API_KEY: KEY, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' };
const result = await run(schemathesis, args, { cwd, env }).catch((error) => error);
const generated = Number(/^ {2}(\d+) generated/m.exec(result.stdout)?.[1] ?? 0);
const isFine = result.code === undefined && generated >= cases;
if (!isFine) console.log(`${result.stdout}${result.stderr}`);
console.log(`seed ${values.seed}: ${generated} cases, ${isFine ? 'no fault' : 'FAULTS'}`);
process.exitCode = isFine ? 0 : 1;
