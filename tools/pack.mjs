// Packs the built package, for the tools that install it as its users do.
import { execFile } from 'node:child_process';
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
