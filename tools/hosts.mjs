// Packs the package, installs it in each host of examples/hosts, and holds it there to the checks of tools/hosts.
// Usage: npm run hosts [-- NAME...], such as koa or koa/nested. --node: those on Node.js. Default: all.
// Exit code: 1 if any check failed.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HOSTS } from './hosts/table.mjs';
import { pack } from './pack.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const MINUTE = 60_000;
/** How many hosts are checked at the same time. */
const AT_ONCE = 2;

/** What a checkout has in an example's folder once it was used there. */
const isInstalled = (path) => /\/(node_modules|build)(\/|$)/.test(path);

const names = process.argv.slice(2).filter((argument) => argument !== '--node');
const onNode = process.argv.includes('--node');
const isWanted = (example) =>
  names.length === 0 || names.some((name) => `${example}/`.startsWith(`${name}/`));
const queue = Object.entries(HOSTS)
  .filter(([, { runtime }]) => !onNode || runtime === undefined || runtime === 'lambda')
  .map(([host, { examples }]) => ({
    host,
    files: Object.keys(examples).filter((file) => isWanted(`${host}/${file}`)),
  }))
  .filter(({ files }) => files.length > 0);
if (queue.length === 0) throw new Error(`No host is named ${names.join(' or ')}.`);

const folder = await mkdtemp(join(tmpdir(), 'animal-store-hosts-'));
try {
  const { tarball } = await pack(folder);
  await cp(join(root, 'examples/hosts/start.mjs'), join(folder, 'start.mjs'));
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { host, files } = next;
      await check(host, files, tarball).catch((error) => {
        console.error(`${host}: ${error.message}`);
        process.exitCode = 1;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
} finally {
  await rm(folder, { recursive: true });
}

async function check(host, files, tarball) {
  const cwd = join(folder, host);
  await cp(join(root, 'examples/hosts', host), cwd, {
    recursive: true,
    filter: (path) => !isInstalled(path.slice(root.length)),
  });
  await cp(join(root, 'tools/hosts'), join(cwd, 'checks'), { recursive: true });
  const quick = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', '--no-save', ...quick, tarball], { cwd, timeout: 5 * MINUTE });
  const options = { cwd, stdio: ['ignore', 'inherit', 'pipe'], timeout: 5 * MINUTE, killSignal: 'SIGKILL' };
  const child = spawn(process.execPath, ['checks/run.mjs', host, ...files], options);
  const said = [];
  child.stderr.on('data', (text) => said.push(text));
  const [code] = await once(child, 'close');
  if (code === 0) return; // what hosts print of the faults that they were given matters to nobody
  console.error(Buffer.concat(said).toString().slice(-5000));
  if (code === null) console.error(`${host}: the checks did not end within 5 minutes`);
  process.exitCode = 1;
}
