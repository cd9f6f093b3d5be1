// Builds, and runs the service under Node.js's permission model: it reads the repository and the folder of the store,
// writes that folder only, and starts no processes, workers or addons.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const options = process.argv.splice(2); // not the build's

/** An option without `--` before it: npm takes it for a setting of its own, and the service would not get it. */
const taken = ['host', 'port', 'store'].find((name) => process.env[`npm_config_${name}`]);
if (taken !== undefined) {
  console.error(`npm took --${taken} for its own. Write: npm start -- --${taken} ...`);
  process.exit(2);
}
await import('./build.mjs');

const root = fileURLToPath(new URL('..', import.meta.url)).slice(0, -1);
const main = `${root}/build/src/bootstrap/main.js`;

const beginsWith = (folder) => (path) =>
  path.startsWith(folder) && ![undefined, '/'].includes(path[folder.length]);

// From Node.js 25 on, listening needs a permission. It is experimental, and Node.js would say so at each start.
const NET = process.allowedNodeEnvironmentFlags.has('--allow-net')
  ? ['--allow-net', '--disable-warning=ExperimentalWarning']
  : [];

/** Whether a URL is one of SQLite that the service accepts: it refuses the others once it has started. */
async function isSqlite(url) {
  if (!url.startsWith('sqlite:')) return false;
  const { sqliteStoreFactory } =
    await import('../build/src/adapters/sqlite/sqlite-store-factory.js');
  return (await sqliteStoreFactory.check(url)) === undefined;
}

/** The flags for these settings; none if they name modules of others, whose needs are unknown. */
async function permissions({ ADAPTERS: adapters = '', ...settings }) {
  if (adapters !== '') return [];
  const { API_KEYS_FILE: keys = '', STORE_URL_FILE: urlFile = '' } = settings;
  const read = [root, ...[keys, urlFile].filter(Boolean).map((file) => resolve(file))];
  const url =
    settings.STORE_URL ||
    (existsSync(urlFile) ? readFileSync(urlFile, 'utf8').trim() : 'sqlite:data/animal-store.db');
  const write = [];
  if (await isSqlite(url)) {
    const file = resolve(url.slice('sqlite:'.length));
    // Too long for SQLite, so it cannot be opened. The flags of so many folders would not fit into a command line.
    if (Buffer.byteLength(file) > 504)
      return ['--permission', ...NET, ...flags('--allow-fs-read', read)];
    const given = dirname(file);
    createFolder(given);
    // The program reads what a link leads to by its own name.
    const real = existsSync(file) ? dirname(realpathSync(file)) : realpathSync(given);
    read.push('/proc/self/mountinfo'); // shows whether the file alone is mounted
    read.push(given, real);
    write.push(given, real);
  }
  // Certificates of MongoDB, whose driver reads names of options in any case.
  for (const [option, file] of new URLSearchParams(url.split('?')[1])) {
    if (/^tls.*file$/i.test(option)) read.push(resolve(file));
  }
  // Node.js takes a folder's own permission back when a name is added that begins with its name (/animal, then
  // /animal-store), unless the folder above was added before.
  read.push(...read.filter((folder) => read.some(beginsWith(folder))).map(dirname));
  const paths = [...flags('--allow-fs-read', read), ...flags('--allow-fs-write', write)];
  return ['--permission', ...NET, ...paths];
}

/** Creates a folder that is missing, on the disk: the permission model of Node.js 26 lets the program sync none. */
function createFolder(folder) {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  const parent = openSync(dirname(folder));
  if (process.platform !== 'win32') fsyncSync(parent);
  closeSync(parent);
}

/** One for each path. Folders come before what is in them: else Node.js forgets them. */
const flags = (name, paths) =>
  [...new Set(paths)].sort((one, other) => (one < other ? -1 : 1)).map((path) => `${name}=${path}`);

if (!process.exitCode) {
  // The same process, so signals reach it.
  const store = { type: 'string', default: process.env.STORE_URL };
  const { values } = parseArgs({ args: options, options: { store }, strict: false });
  const settings = { ...process.env, STORE_URL: String(values.store ?? '') };
  const args = [process.execPath, ...(await permissions(settings)), main, 'serve', ...options];
  process.execve(process.execPath, args, process.env);
}
