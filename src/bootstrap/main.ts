#!/usr/bin/env node
import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { hideSqliteWarning, nodeVersionFault, startLine } from './service/node-version.js';

// Everything else is imported later: an old Node.js fails at the imports already.
const fault = nodeVersionFault(process.versions.node);
if (fault) {
  const environment = process.argv[2] === 'serve' ? process.env : {};
  process.stderr.write(startLine(environment, fault.fatal ? 60 : 40, fault.message));
}
if (fault?.fatal) {
  process.exitCode = 2;
} else {
  hideSqliteWarning(process);
  // In some runs V8 would guess that animals live long. Then whole pages of them would stay in memory until the next
  // full garbage collection, and a list of 20 would cost a sixth more.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Node.js would open its inspector at this signal, to every process that can connect to this machine's loopback.
  process.on('SIGUSR1', () => {});
  // A reader may close the pipe early, as `head` does. That must not end the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { run } = await import('./commands/run.js');
  process.exitCode = await run(process.argv.slice(2), process);
  // A module of ADAPTERS that failed to load may keep the process, for example by a timer, and nothing can close it.
  // The command itself has closed what it opened.
  if (process.exitCode === 2) process.exit();
  // The primary of node:cluster, such as PM2, may have sent connections that this worker has not read. Disconnecting
  // waits until the primary knows that this worker accepts no more, and sends them to another one: else they would hang.
  if (cluster.worker) cluster.worker.disconnect();
  // The channel to any other parent would keep the process.
  else process.channel?.unref();
}
