// Runs the checks of one host in its folder. Usage: node checks/run.mjs HOST EXAMPLE...
// Prints a line for each example and check. Exit code: 1 if one failed.
import process from 'node:process';
import { CHECKS, firstLine } from './checks.mjs';
import { openExample } from './open-example.mjs';
import { HOSTS } from './table.mjs';

process.setMaxListeners(0); // h3 listens to signals once for each server
const [name, ...files] = process.argv.slice(2);
for (const file of files) {
  const example = await openExample(name, file, HOSTS[name]);
  for (const [check, run] of Object.entries(CHECKS)) {
    const began = performance.now();
    const outcome = await run(example).catch((error) => {
      process.exitCode = 1;
      return `FAILED: ${check === 'contract' ? error.message : firstLine(error)}`;
    });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    if (outcome !== undefined) console.log(`${name}/${file}: ${check}: ${outcome} (${seconds} s)`);
  }
}
process.exit(); // whatever a host leaves open
