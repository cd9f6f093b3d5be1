#!/usr/bin/env node
import { hideSqliteWarning, tooOldToRun, tooOldToTrust } from './node-version.js';

// Nothing else is imported before the version was judged: an old Node.js fails already at the imports.
const refusal = tooOldToRun(process.versions.node);
if (refusal === undefined) {
  const warning = tooOldToTrust(process.versions.node);
  if (warning !== undefined) process.stderr.write(`${warning}\n`);
  hideSqliteWarning(process);
  // Whoever reads the output may leave before the program ends; that must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { run } = await import('./run.js');
  process.exitCode = await run(process.argv.slice(2), process);
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 2;
}
