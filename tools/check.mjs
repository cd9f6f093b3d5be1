// Runs npm scripts one after another, and prints one line for each: node tools/check.mjs SCRIPT... (npm run check). At
// the first that fails it prints the end of that script's output, and exits with 1.
import { spawnSync } from 'node:child_process';

/** Enough for the failures that mocha lists at its end, without the thousands of lines about what passed. */
const LINES_SHOWN = 300;

for (const script of process.argv.slice(2)) {
  const began = performance.now();
  const options = { encoding: 'utf8', maxBuffer: Infinity, stdio: ['ignore', 'pipe', 'pipe'] };
  const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', script], options);
  const seconds = Math.round((performance.now() - began) / 1000);
  const [counts = ''] = /^\d+ passed, .*$/m.exec(stdout) ?? [];
  console.log(
    `${status === 0 ? 'passed' : 'FAILED'} ${script.padEnd(14)} ${seconds} s  ${counts}`.trimEnd(),
  );
  if (status === 0) continue;
  console.log(`${stdout}${stderr}`.split('\n').slice(-LINES_SHOWN).join('\n'));
  process.exit(1);
}
console.log('check passed');
