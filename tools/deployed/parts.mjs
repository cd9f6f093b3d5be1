// Runs the parts that its arguments name, by default all, one after the other. tools/deployed.mjs starts it, and removes
// the processes, mounts and files that it leaves.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PARTS = ['manifests', 'pm2', 'units', 'docker'];

/** After this many milliseconds no part begins, and none waits for what is built besides: CI has eight minutes. */
const LONGEST = 400_000;

const root = fileURLToPath(new URL('../..', import.meta.url)).slice(0, -1);
const PATH = [process.env.CHECKERS, process.env.PATH, '/usr/sbin', '/sbin'].filter(Boolean);
process.env.PATH = PATH.join(':');

/** Runs a line of a shell, and returns what it says. Throws, with all that it said, if it fails. */
function sh(line, { cwd = root, timeout = 60_000, env = {} } = {}) {
  const options = { cwd, timeout, encoding: 'utf8', env: { ...process.env, ...env } };
  const { status, signal, stdout, stderr } = spawnSync('sh', ['-c', line], options);
  if (status !== 0) throw new Error(`${line}: ${status ?? signal}\n${stdout}${stderr}`);
  return stdout.trim();
}

const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** Installs the packages of Debian that bring programs which are missing. Returns what is missing all the same. */
function missingOf(needs) {
  const missing = () => Object.keys(needs).filter((program) => !has(program));
  const packages = missing().flatMap((program) => needs[program] ?? []);
  if (packages.length > 0 && process.getuid() === 0) {
    const get = `env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq`;
    const install = `${get} update && ${get} install --yes --no-install-recommends ${packages.join(' ')}`;
    spawnSync('sh', ['-c', install], { timeout: 180_000, stdio: 'ignore' });
  }
  return missing();
}

let hasFailed = false;
const notRun = [];
const seconds = (began) => Math.round((performance.now() - began) / 1000);
const began = performance.now();
for (const name of process.argv.length > 2 ? process.argv.slice(2) : PARTS) {
  const partBegan = performance.now();
  const show = (what, holds, figure = '') => {
    if (!holds) hasFailed = true;
    console.log(
      `${holds ? 'holds ' : 'BROKEN'}  ${name}: ${what}${figure === '' ? '' : `: ${figure}`}`,
    );
  };
  const { needs, asRoot, run } = await import(`./${name}.mjs`);
  const missing = missingOf(needs);
  if (asRoot && process.getuid() !== 0) missing.push('root');
  else if (asRoot && process.env.CONTROL_GROUP === undefined) missing.push('namespaces');
  const left = () => Math.max(0, began + LONGEST - performance.now());
  let reason = missing.length > 0 ? `needs ${missing.join(' and ')}` : undefined;
  if (left() === 0) reason = 'no time left';
  try {
    reason ??= await run({ root, sh, show, left });
  } catch (error) {
    hasFailed = true;
    console.log(`FAILED  ${name}: ${error.message.slice(-6000)}`);
  }
  if (reason !== undefined) notRun.push(`${name}: ${reason}`);
  else console.log(`        ${name} took ${seconds(partBegan)} s`);
}
console.log(`${seconds(began)} s`);
for (const line of notRun) console.log(`NOT RUN ${line}`);
const isIncomplete = notRun.length > 0 && process.env.REQUIRE_DEPLOYED === '1';
process.exit(hasFailed || isIncomplete ? 1 : 0); // and what the parts left running ends with the namespace
