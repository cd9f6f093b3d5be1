// Compiles and restarts the service whenever a source changes, until Ctrl-C.
import { spawn } from 'node:child_process';

await import('./build.mjs');
if (process.exitCode) process.exit();

const start = (...args) => spawn(process.execPath, args, { stdio: 'inherit' });
// One by one: TypeScript 7.0's --build --watch compiles once, and then overlooks changes.
const compile = (project) =>
  start('node_modules/typescript/bin/tsc', '-p', project, '--watch', '--preserveWatchOutput');
const children = [
  compile('src'),
  compile('src/adapters/http/docs-page'),
  start('--watch-path=build/src', 'build/src/bootstrap/main.js', 'serve'),
];

// A terminal's Ctrl-C reaches the children by itself; whoever ends this process alone means them too.
const stop = () => children.forEach((child) => child.kill());
process.on('SIGINT', stop).on('SIGTERM', stop);
