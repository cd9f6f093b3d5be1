// Starts what docs/operations shows, the way that its pages say: npm run deployed [-- PART...]. The parts are modules of
// tools/deployed. A part whose tools cannot be installed here is named as not run, which fails only under
// REQUIRE_DEPLOYED=1. Exits with 1 if a part that ran has failed.
//
// The parts run in a process and a mount namespace of their own, and write to one folder. Their end, also by a signal to
// this program, ends the processes and mounts with the namespaces. Then the folder and the control groups are removed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-deployed-'));
const parts = fileURLToPath(new URL('deployed/parts.mjs', import.meta.url));

const own = process.getuid() === 0 ? [] : ['--user', '--map-current-user'];
const namespaces = [...own, '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const hasNamespaces = spawnSync('unshare', [...namespaces, 'true']).status === 0;
// The shell is the first process of the namespace: unlike Node.js, it reaps the processes that others leave.
const init = hasNamespaces ? ['unshare', ...namespaces, 'sh', '-c', '"$@"; exit $?', 'init'] : [];
const [program, ...args] = [...init, process.execPath, parts, ...process.argv.slice(2)];
const child = spawn(program, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    TMPDIR: folder,
    ...(hasNamespaces && { CONTROL_GROUP: basename(folder) }),
  },
});

let received;
for (const signal of SIGNALS) {
  process.on(signal, () => {
    received ??= signal;
    child.kill('SIGKILL'); // the first process of a namespace takes its others along
  });
}

child.on('exit', (code) => {
  rmSync(folder, { recursive: true, force: true });
  const groups = ['/sys/fs/cgroup', '-depth', '-type', 'd', '-path', `*/${basename(folder)}*`];
  spawnSync('find', [...groups, '-exec', 'rmdir', '{}', '+'], { stdio: 'ignore' });
  process.exitCode = received === undefined ? (code ?? 1) : 128 + constants.signals[received];
});
