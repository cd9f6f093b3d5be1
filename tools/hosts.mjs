// Packs the package, installs it in each host of examples/hosts, and holds it there to the checks of tools/hosts.
// Usage: npm run hosts [-- NAME...], such as koa or koa/nested. --node: those on Node.js. Default: all.
// Exit code: 1 if any check failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOSTS } from './hosts/table.mjs';
import { install, pack } from './pack.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const MINUTE = 60_000;
/** How many hosts are checked at the same time. */
const AT_ONCE = 2;

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

await using temporary = await mkdtempDisposable(join(tmpdir(), 'animal-store-hosts-'));
const folder = temporary.path;
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

async function check(host, files, tarball) {
  const cwd = join(folder, host);
  await install(join('hosts', host), cwd, tarball);
  await cp(join(root, 'tools/hosts'), join(cwd, 'checks'), { recursive: true });
  const options = {
    cwd,
    stdio: ['ignore', 'inherit', 'pipe'],
    timeout: 15 * MINUTE,
    killSignal: 'SIGKILL',
  };
  const child = spawn(process.execPath, ['checks/run.mjs', host, ...files], options);
  const said = [];
  child.stderr.on('data', (text) => said.push(text));
  const [code] = await once(child, 'close');
  if (code === 0) return; // what hosts print of the faults that they were given matters to nobody
  console.error(Buffer.concat(said).toString().slice(-5000));
  if (code === null) console.error(`${host}: the checks did not end within 15 minutes`);
  process.exitCode = 1;
}
