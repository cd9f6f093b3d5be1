// Compiles and restarts the service whenever a source changes, until Ctrl-C.
import { spawn } from 'node:child_process';

await import('./build.mjs');
if (process.exitCode) process.exit();

const start = (...args) => spawn(process.execPath, args, { stdio: 'inherit' });
// Not --build: TypeScript 7.0 compiles once with it, and then overlooks changes.
const compiler = [
  'node_modules/typescript/bin/tsc',
  '-p',
  'src',
  '--watch',
  '--preserveWatchOutput',
];
const children = [
  start(...compiler),
  start('--watch-path=build/src', 'build/src/bootstrap/main.js', 'serve'),
];

// A terminal's Ctrl-C reaches the children by itself. A signal to this process alone is passed on.
const stop = () => children.forEach((child) => child.kill());
process.on('SIGINT', stop).on('SIGTERM', stop);
