// Builds, and runs the service under Node.js's permission model: it reads the repository and the folder of the store,
// writes that folder only, and starts no processes, workers or addons.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = `${root}build/src/bootstrap/main.js`;

/** The flags for these settings; none if they name modules of others, whose needs are unknown. */
function permissions({ STORE_URL: url = '', ADAPTERS: adapters = '', API_KEYS_FILE: keys = '' }) {
  if (adapters !== '') return [];
  const read = keys === '' ? [root] : [root, resolve(keys)];
  const write = [];
  if (url === '' || url.startsWith('sqlite:')) {
    const file = resolve(url.slice('sqlite:'.length) || 'data/animal-store.db');
    const given = dirname(file);
    let existing = given;
    while (!existsSync(existing)) existing = dirname(existing);
    // The program reads what a link leads to by its own name.
    const real = existsSync(file)
      ? dirname(realpathSync(file))
      : join(realpathSync(existing), relative(existing, given));
    for (let folder of [given, real]) {
      write.push(folder);
      // A folder that is missing is made, in one that then has to be read.
      for (; !existsSync(folder); folder = dirname(folder)) write.push(folder, `${folder}/*`);
      read.push(folder);
    }
  }
  // Certificates of MongoDB.
  for (const [option, file] of new URLSearchParams(url.split('?')[1])) {
    if (option.endsWith('File')) read.push(resolve(file));
  }
  return [
    '--permission',
    ...Array.from(new Set(read), (path) => `--allow-fs-read=${path}`),
    ...Array.from(new Set(write), (path) => `--allow-fs-write=${path}`),
  ];
}

if (!process.exitCode) {
  // The same process, so signals reach it.
  process.execve(
    process.execPath,
    [process.execPath, ...permissions(process.env), main, 'serve'],
    process.env,
  );
}
