// Compiles the program before it runs. Without the compiler (npm ci --omit=dev) what was built before runs as it is.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const COMPILER = 'node_modules/typescript/bin/tsc';
const isBuilt = existsSync('build/src/bootstrap/main.js');

if (existsSync(COMPILER)) {
  if (!isBuilt) console.error('Building: this can take a minute ...');
  const args = [COMPILER, '--build', 'src'];
  const stdio = ['ignore', 2, 2]; // a command's stdout is its own output only
  process.exitCode = spawnSync(process.execPath, args, { stdio }).status ?? 1;
  if (process.exitCode === 0) await import('./docs-page.mjs');
} else if (!isBuilt) {
  console.error('The compiler is not installed: run npm ci --include=dev && npm run build once.');
  process.exitCode = 1;
}
