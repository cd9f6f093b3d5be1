#!/usr/bin/env node

// Node.js 22 warns at every start that its SQLite is experimental.
const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
process.emitWarning = (...warning: unknown[]) => {
  if (!String(warning[0]).startsWith('SQLite is an experimental')) emitWarning(...warning);
};
// Everything else is imported below: on an old Node.js the imports fail.
if (process.getBuiltinModule?.('node:sqlite')) {
  // A reader may close the pipe early, as `head` does. That must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { run } = await import('./commands/run.js');
  // A module of ADAPTERS may keep the process, for example by a timer. The command has closed what it opened.
  process.exit(await run(process.argv.slice(2), process));
} else {
  const use = '^22.22.2 || ^24.14.1 || >=26';
  process.stderr.write(`Node.js ${process.versions.node} is too old: use ${use}.\n`);
  process.exitCode = 2;
}
