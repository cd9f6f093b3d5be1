// Packs the library and checks the tarball from outside: npm run package:check [-- EXAMPLE...]
// publint and attw must pass. In an empty project of strict TypeScript every entry and the command must work, also on the
// Node.js that NODE22 names. The adapters EXAMPLE (folders of examples/) must pass their contracts, and the hosts of
// examples/hosts must serve.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startService } from './service.mjs';
import { temporaryFolder } from './temporary-folder.mjs';
import { tryHosts } from './package/hosts.mjs';

const { devDependencies, version } = JSON.parse(readFileSync('package.json', 'utf8'));
const examples = process.argv.slice(2);

using temporary = temporaryFolder();

/** Resolves to the output of a program. Rejects with it if the program fails. */
async function run(cwd, program, args, env = process.env) {
  const options = { cwd, env, timeout: 600_000, maxBuffer: Infinity };
  const running = promisify(execFile)(program, args, options);
  const { stdout } = await running.catch(({ code, stdout: out, stderr }) => {
    throw new Error(`${program} ${args.join(' ')} ends with ${code}:\n${out}${stderr}`);
  });
  return stdout;
}
const npm = (cwd, ...args) => run(cwd, 'npm', [...args, '--no-audit', '--no-fund', '--silent']);

/** Copies a folder. With packages, installs them and those of its manifest. Returns the copy. */
async function project(name, from, ...packages) {
  const folder = join(temporary.path, name);
  mkdirSync(folder, { recursive: true });
  cpSync(from, folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|build)$/.test(path),
  });
  if (packages.length > 0) await npm(folder, 'install', '--prefer-offline', ...packages);
  return folder;
}

async function pack() {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', temporary.path];
  const out = JSON.parse(await run('.', 'npm', args));
  // An array or an object, depending on the version of npm.
  const [{ filename, size, files }] = Object.values(out);
  console.log(`tarball: ${files.length} files, ${Math.round(size / 1000)} kB`);
  return join(temporary.path, filename);
}

/** The installed command: its version, a key, the service. */
async function tryCommand(folder, node) {
  const bin = join(folder, 'node_modules/.bin/animal-store');
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  const env = { PATH, STORE_URL: `sqlite:${folder}/animals.db` };
  const command = (...args) => run(folder, bin, args, env);
  assert.equal((await command('--version')).trim(), version);
  const key = (await command('keys', 'issue', '--name', 'outside')).trim();
  const service = await startService(env, { command: [bin, 'serve'] });
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${service.url}/pets`, { headers });
  const ending = await service.stop();
  assert.deepEqual([response.status, await response.text(), ending], [200, '[]', [0, null]]);
}

const tarball = await pack();

// publint and attw, pinned by their own lock file.
const linters = await project('linters', 'tools/package');
await npm(linters, 'ci');
await run(linters, 'node_modules/.bin/attw', [tarball, '--profile', 'esm-only']);
const verdict = await run(linters, 'node_modules/.bin/publint', ['run', tarball, '--strict']);
assert.match(verdict, /All good/);
console.log('attw --profile esm-only and publint --strict: clean');

const compilers = ['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name]}`);
const user = await project('user', 'tools/package/user', tarball, ...compilers);
await run(user, process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
for (const node of [process.execPath, process.env.NODE22].filter(Boolean)) {
  console.log((await run(user, node, ['build/use.js'])).trim());
  await tryCommand(user, node);
}

for (const example of examples.length > 0 ? examples : ['stores/level']) {
  const folder = await project(example, join('examples', example), tarball);
  // --test-force-exit: an adapter may leave handles open.
  const args = ['--test', '--test-force-exit', '--test-reporter=tap'];
  const report = await run(folder, process.execPath, args);
  assert.match(report, /^# pass [1-9]/m); // without test files, too, it exits with 0
  console.log(`${example}: ${report.match(/^# (?:pass|fail|skipped) \d+$/gm).join(', ')}`);
}

await tryHosts(await project('hosts', 'examples/hosts', tarball));
