#!/usr/bin/env node

// Hides the warning of Node.js 22 that its SQLite is experimental.
const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
process.emitWarning = (...warning: unknown[]) => {
  if (!String(warning[0]).startsWith('SQLite is an experimental')) emitWarning(...warning);
};
// The rest is imported only here: in an old Node.js an import may fail before any message.
if (process.getBuiltinModule?.('node:sqlite')) {
  // A reader that closes the pipe early, as `head` does, must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { run } = await import('./commands/command-line.js');
  // A module of ADAPTERS may keep the process alive, for example by a timer. The command has closed what it opened.
  process.exit(await run(process.argv.slice(2), process));
} else {
  const supported = '^22.22.2 || ^24.14.1 || >=26';
  process.stderr.write(`Node.js ${process.versions.node} is too old: use ${supported}.\n`);
  process.exitCode = 2;
}
