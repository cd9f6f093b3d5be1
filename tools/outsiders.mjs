// Packs the package, installs it into a folder of its own for each adapter in examples/ that is written from
// outside, and holds the adapter to its contract there. The seconds are from `npm install TARBALL` to the end
// of the suite. REQUIRE_POSTGRES=1: what lacks a PostgreSQL server has failed.
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const MINUTE = 60_000;

const ADAPTERS = [
  ['stores/level', 'level-pet-repository.mjs'],
  ['stores/postgres', 'postgres-pet-repository.mjs'],
  ['transports/fastify', 'fastify-transport.mjs'],
  ['authenticators/jose', 'jose-authenticator.mjs'],
];

const wanted = process.argv[2] ?? '';
const folder = await mkdtemp(join(tmpdir(), 'animal-store-outsiders-'));
try {
  const packing = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(packing.stdout);
  const rows = [];
  for (const [path, ...files] of ADAPTERS.filter(([path]) => path.includes(wanted))) {
    rows.push(await tryOut(path, files, join(folder, filename)));
  }
  console.table(rows);
  if (rows.length === 0 || rows.some(({ ended }) => ended !== 0)) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

async function tryOut(path, files, tarball) {
  const place = join(folder, path);
  await cp(join(root, 'examples', path), place, { recursive: true });
  let lines = 0;
  for (const file of files) lines += (await readFile(join(place, file), 'utf8')).split('\n').length - 1;
  const began = performance.now();
  await run('npm', ['install', '--no-save', '--no-audit', '--no-fund', tarball], {
    cwd: place,
    timeout: 5 * MINUTE,
  });
  const installed = performance.now();
  const { ended, text } = await suite(place);
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(text)?.[1] ?? NaN);
  if (ended !== 0) console.error(text);
  for (const reason of new Set(text.match(/(?<=# SKIP ).+/g))) console.log(`${path}: skipped: ${reason}`);
  const seconds = Math.round((performance.now() - began) / 1000);
  const install = Math.round((installed - began) / 1000);
  return {
    path,
    lines,
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skipped'),
    install,
    seconds,
    ended,
  };
}

/** Ends by itself within ten minutes, whatever an adapter leaves open. */
function suite(cwd) {
  const child = spawn(process.execPath, ['--test', '--test-force-exit', '--test-reporter=tap'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 10 * MINUTE,
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ended: code ?? 'stopped', text }));
  });
}
