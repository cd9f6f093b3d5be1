// Compiles and restarts the service whenever a source changes, until Ctrl-C.
import { spawn } from 'node:child_process';

await import('./build.mjs');
if (process.exitCode) process.exit();

const start = (...args) => spawn(process.execPath, args, { stdio: 'inherit' });
// Without --build: with it, TypeScript 7.0 compiles once and then overlooks changes.
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

// Ctrl-C in a terminal reaches the children, too. This passes on a signal to this process alone.
const stop = () => children.forEach((child) => child.kill());
process.on('SIGINT', stop).on('SIGTERM', stop);
