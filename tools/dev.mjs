// Compiles and restarts the service whenever a source changes, until Ctrl-C.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = 'node_modules/typescript/bin/tsc';
const start = (args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });

const { status } = spawnSync(process.execPath, ['tools/build.mjs'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
// Watched one by one: TypeScript 7.0's --build --watch compiles once, and then overlooks changes.
const projects = ['src', 'src/adapters/http/docs-page'];
const children = [
  ...projects.map((project) =>
    start([compiler, '--project', project, '--watch', '--preserveWatchOutput']),
  ),
  start([
    '--watch-path=build/src',
    '--watch-preserve-output',
    'build/src/bootstrap/main.js',
    'serve',
  ]),
];

// A terminal's Ctrl-C reaches the children by itself; whoever ends this process alone means them too.
const stop = () => children.forEach((child) => child.kill('SIGTERM'));
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
