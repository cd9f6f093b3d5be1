// Packs the built package, for the tools that install it as its users do.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Puts the tarball into `folder`. Resolves to its path (`tarball`), its size in bytes and the paths of its files. */
export async function pack(folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root, maxBuffer: 10_000_000 });
  const out = JSON.parse(stdout);
  const [{ filename, size, files }] = Array.isArray(out) ? out : Object.values(out); // by the version of npm
  return { tarball: join(folder, filename), size, paths: files.map(({ path }) => path) };
}

/** Copies an example into the folder `cwd`, with its packages and the tarball installed. */
export async function install(example, cwd, tarball) {
  const from = join(root, 'examples', example);
  // A checkout has these folders once the example was used there.
  const isSource = (path) => !/\/(node_modules|build)(\/|$)/.test(path.slice(from.length));
  await cp(from, cwd, { recursive: true, filter: isSource });
  const args = ['install', '--no-save', '--prefer-offline', '--no-audit', '--no-fund', tarball];
  await promisify(execFile)('npm', args, { cwd, timeout: 300_000, maxBuffer: 10_000_000 });
}
