// Packs the package, installs it into a folder of its own for each adapter in examples/ that is written from
// outside, and holds the adapter to its contract there. REQUIRE_POSTGRES=1: what lacks a PostgreSQL server has failed.
// Usage: npm run outsiders [-- TEXT]: those with TEXT in their paths. Default: all.
import { execFile } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { install, pack } from './pack.mjs';

const run = promisify(execFile);
const MINUTE = 60_000;
const ADAPTERS = ['stores/level', 'stores/postgres', 'transports/fastify', 'authenticators/jose'];

const wanted = ADAPTERS.filter((path) => path.includes(process.argv[2] ?? ''));
if (wanted.length === 0) throw new Error(`No adapter has "${process.argv[2]}" in its path.`);
await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-outsiders-'));
const folder = temporary.path;
const { tarball } = await pack(folder);
for (const path of wanted) await tryOut(path, tarball);

async function tryOut(path, tarball) {
  const cwd = join(folder, path);
  await install(path, cwd, tarball);
  const options = { cwd, timeout: 10 * MINUTE, maxBuffer: 100_000_000 };
  // It ends by itself, whatever an adapter leaves open.
  const args = ['--test', '--test-force-exit', '--test-reporter=tap'];
  const { code, stdout } = await run(process.execPath, args, options).catch((error) => error);
  const count = (what) => new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1];
  console.log(
    `${path}: ${count('pass')} passed, ${count('fail')} failed, ${count('skipped')} skipped`,
  );
  for (const reason of new Set(stdout.match(/(?<=# SKIP ).+/g)))
    console.log(`  skipped: ${reason}`);
  if (code === undefined) return;
  console.error(stdout);
  process.exitCode = 1;
}
