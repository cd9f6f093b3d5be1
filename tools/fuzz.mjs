// Lets Schemathesis make up requests from the OpenAPI document that the built service publishes, valid ones and
// invalid ones, and hold the answers to it: all of its checks and phases, no failure, no warning.
// Usage: npm run fuzz [-- --cases 10000] [--seeds 1,2,3,random] [--stores memory,sqlite]: each seed on each store,
// at least so many requests each time. Schemathesis comes from PyPI into a virtual environment below build/.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const VERSION = '4.32.5';
const KEY = 'fuzzing-key-0123456789';
const root = fileURLToPath(new URL('..', import.meta.url));
const environment = join(root, `build/schemathesis-${VERSION}`);
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seeds: { type: 'string', default: '1,2,3,random' },
    stores: { type: 'string', default: 'memory,sqlite' },
  },
});
const cases = Number(values.cases);

/** Runs a program to its end. Resolves to its output, and whether it ended well. */
async function output(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (text += part));
  const [code] = await once(child, 'close');
  return { passed: code === 0, text };
}

async function mustSucceed(command, args) {
  const { passed, text } = await output(command, args);
  if (!passed) throw new Error(`${command} ${args.join(' ')}\n${text}`);
}

async function install() {
  const bin = join(environment, 'bin');
  if (!existsSync(join(bin, 'schemathesis'))) {
    await mustSucceed('python3', ['-m', 'venv', environment]);
    const options = ['install', '--quiet', '--disable-pip-version-check'];
    await mustSucceed(join(bin, 'pip'), [...options, `schemathesis==${VERSION}`]);
  }
  return join(bin, 'schemathesis');
}

/** The service on a free port. Resolves once it listens. */
async function startService(storeUrl) {
  const child = spawn(process.execPath, [join(root, 'build/src/bootstrap/main.js'), 'serve'], {
    env: { HOST: '127.0.0.1', PORT: '0', STORE_URL: storeUrl, API_KEYS: KEY, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const { url } = line.startsWith('{') ? JSON.parse(line) : {};
    if (url === undefined) continue;
    child.stderr.resume(); // nobody reads on, and a pipe that is full would hold the service
    return { url: new URL(url), child };
  }
  throw new Error('the service did not start');
}

async function fuzz(schemathesis, store, seed) {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-fuzz-'));
  const { url, child } = await startService(
    store === 'memory' ? 'memory:' : `${store}:${join(folder, 'pets.db')}`,
  );
  cpSync(join(root, 'tools/fuzz'), folder, { recursive: true }); // it writes to where its settings are
  const began = performance.now();
  try {
    const { passed, text } = await output(
      schemathesis,
      [
        ...['run', new URL('/openapi.json', url).href],
        ...['--checks', 'all', '--phases', 'examples,coverage,fuzzing,stateful'],
        // There are three operations, and the other phases have cases of their own.
        ...['--max-examples', String(Math.ceil(cases / 4)), '--seed', String(seed)],
      ],
      { cwd: folder, env: { ...process.env, API_KEY: KEY, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' } },
    );
    const generated = Number(/^ {2}(\d+) generated/m.exec(text)?.[1] ?? 0);
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(
      `seed ${seed} on ${store}: ${generated} cases in ${seconds} s, ${passed ? 'no fault' : 'FAULTS'}`,
    );
    if (!passed) console.log(text);
    else if (generated < cases) console.log(`these are fewer than ${cases}`);
    return passed && generated >= cases;
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
    rmSync(folder, { recursive: true });
  }
}

const schemathesis = await install();
const seeds = values.seeds.split(',').map((seed) => (seed === 'random' ? randomInt(2 ** 31) : Number(seed)));
for (const seed of seeds) {
  for (const store of values.stores.split(',')) {
    if (!(await fuzz(schemathesis, store, seed))) process.exitCode = 1;
  }
}
