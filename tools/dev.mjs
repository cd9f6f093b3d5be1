// Compiles and restarts the service whenever a source changes, until Ctrl-C.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = 'node_modules/typescript/bin/tsc';
if (!existsSync(`${root}${compiler}`)) {
  console.error('The compiler is not installed: run npm ci.');
  process.exit(1);
}

const start = (args) => spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });

// The script of the docs page refers to src: this builds both.
spawnSync(process.execPath, [compiler, '--build', 'src/adapters/http/docs-page'], {
  cwd: root,
  stdio: 'inherit',
});
// Watched one by one: TypeScript 7.0's --build --watch compiles once, and then overlooks changes.
const projects = ['src', 'src/adapters/http/docs-page'];
const children = [
  ...projects.map((project) => start([compiler, '--project', project, '--watch', '--preserveWatchOutput'])),
  start(['--watch-path=build/src', '--watch-preserve-output', 'build/src/bootstrap/main.js', 'serve']),
];

// A terminal's Ctrl-C reaches the children by itself; whoever ends this process alone means them too.
const stop = () => children.forEach((child) => child.kill('SIGTERM'));
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
