// Installs what a lock file of tools/pypi names, each file by its hash, into a virtual environment of its own below
// build/, once for each content of the lock file. The lock files are made from the .in files beside them by the command
// in their first lines.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Resolves to the folder of the environment's programs. */
export async function installFromPyPI(name) {
  const lock = fileURLToPath(new URL(`./pypi/${name}.txt`, import.meta.url));
  const hash = createHash('sha256').update(readFileSync(lock)).digest('hex').slice(0, 8);
  const environment = fileURLToPath(new URL(`../build/${name}-${hash}`, import.meta.url));
  const bin = join(environment, 'bin');
  if (!existsSync(join(bin, name))) {
    await promisify(execFile)('python3', ['-m', 'venv', environment]);
    await pip(bin, '--require-hashes', '--only-binary', ':all:', '--requirement', lock);
  }
  return bin;
}

/** Installs packages beside it. */
export const pip = (bin, ...args) =>
  promisify(execFile)(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...args]);
