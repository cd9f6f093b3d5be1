// Installs a package of PyPI into a virtual environment of its own below build/, once for each version.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Resolves to the folder of the environment's programs. */
export async function installFromPyPI(name, version) {
  const environment = fileURLToPath(new URL(`../build/${name}-${version}`, import.meta.url));
  const bin = join(environment, 'bin');
  if (!existsSync(join(bin, name))) {
    await promisify(execFile)('python3', ['-m', 'venv', environment]);
    await pip(bin, `${name}==${version}`);
  }
  return bin;
}

/** Installs packages beside it. */
export const pip = (bin, ...args) =>
  promisify(execFile)(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...args]);
