#!/usr/bin/env node
import { isBuiltin } from 'node:module';
import { SUPPORTED_NODE, hideSqliteWarning } from './service/node-version.js';

// Everything else is imported later: without node:sqlite the imports fail already.
if (isBuiltin('node:sqlite')) {
  hideSqliteWarning(process);
  // A reader may close the pipe early, as `head` does. That must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { run } = await import('./commands/run.js');
  process.exitCode = await run(process.argv.slice(2), process);
  // A module of ADAPTERS that failed to load may keep the process, for example by a timer, and nothing can close it.
  // The command itself has closed what it opened.
  if (process.exitCode === 2) process.exit();
} else {
  const { node } = process.versions;
  process.stderr.write(`Node.js ${node} is too old for the animal store: use ${SUPPORTED_NODE}.\n`);
  process.exitCode = 2;
}
