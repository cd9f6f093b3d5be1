// Serves examples/fetch-server.mjs on Bun and Deno, in memory and in an SQLite file, and replays there what needs
// one static key and the default settings of test/http/transcript.jsonl: every answer is to be as recorded, to the
// byte. The runtimes come from npm, into a temporary folder that is removed. Usage: npm run runtimes
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const KEY = 'key-of-the-runtimes-0123456789';
const EXAMPLE = 'examples/fetch-server.mjs';
const RUNTIMES = [
  { wanted: 'bun@1.4.5', command: 'bun', serve: () => [EXAMPLE] },
  {
    wanted: 'deno@2.9.6',
    command: 'deno',
    serve: (port) => ['serve', '-A', '--host', '127.0.0.1', '--port', port, EXAMPLE],
  },
];

const root = new URL('..', import.meta.url);
const built = (path) => import(new URL(`build/test/http/${path}`, root).href);
const { readTranscript, replay } = await built('transcript.js');
const { messageOf } = await built('wire.js');
const { converse } = await built('socket-client.js');

const transcript = readTranscript(readFileSync(new URL('test/http/transcript.jsonl', root), 'utf8')).filter(
  ({ given, request }) => given === 'plain' && !/\{\{\w+Key\}\}/.test(JSON.stringify(request)),
);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return String(port);
}

async function accepts(port, server) {
  while (server.exitCode === null) {
    const socket = connect(Number(port), '127.0.0.1');
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return;
    await delay(50);
  }
  throw new Error('the server did not start');
}

/** Starts the example as a service that a transcript can be replayed on. */
async function start(program, serve, animalsFile) {
  const port = await freePort();
  const env = { ...process.env, API_KEY: KEY, PORT: port, ANIMALS_FILE: animalsFile };
  const options = { cwd: fileURLToPath(root), env, stdio: ['ignore', 'ignore', 'pipe'] };
  const server = spawn(program, serve(port), options);
  let said = '';
  server.stderr.on('data', (data) => (said += data));
  const stop = async () => {
    server.kill('SIGKILL');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  };
  const url = new URL(`http://127.0.0.1:${port}/v1`);
  try {
    await accepts(port, server);
  } catch (error) {
    await stop();
    throw new Error(`${error.message}: ${said.trim().split('\n').at(-1)}`, { cause: error });
  }
  return {
    url: url.href,
    overSocket: true,
    values: { key: KEY },
    send: (request) => converse(url, messageOf(request, url.host, 1), false),
    stop,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
try {
  for (const { wanted, command, serve } of RUNTIMES) {
    execFileSync('npm', ['install', '--silent', '--no-fund', '--no-audit', '--prefix', folder, wanted]);
    const program = join(folder, 'node_modules', '.bin', command);
    for (const [store, file] of [
      ['memory', ''],
      ['SQLite', join(folder, `${command}.db`)],
    ]) {
      try {
        const { requests, equal, difference } = await replay(transcript, () => start(program, serve, file));
        console.log(`${wanted} ${store}: ${equal} of ${requests} answers are as recorded`);
        if (difference) console.log(JSON.stringify(difference, undefined, 2));
        if (equal < requests) process.exitCode = 1;
      } catch (error) {
        console.log(`${wanted} ${store}: ${error.message}`);
        process.exitCode = 1;
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
