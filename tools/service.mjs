import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));

/** The built service on a free port, with one static key. Resolves, once it listens, to where, and how to stop it. */
export async function startService(key, storeUrl) {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { HOST: '127.0.0.1', PORT: '0', STORE_URL: storeUrl, API_KEYS: key, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface({ input: child.stderr })) {
    const { url } = line.startsWith('{') ? JSON.parse(line) : {};
    if (url === undefined) continue;
    child.stderr.resume(); // nobody reads on, and a pipe that is full would hold the service
    return { url: new URL(url), stop };
  }
  throw new Error('the service did not start');
}
