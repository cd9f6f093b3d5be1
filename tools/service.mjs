import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));

/**
 * The built service, with one static key, on a free port unless `settings` name one. Resolves, once it listens, to where,
 * and how to stop it: `stop` resolves to its exit code.
 */
export async function startService(key, storeUrl, settings = {}) {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: {
      HOST: '127.0.0.1',
      PORT: '0',
      STORE_URL: storeUrl,
      API_KEYS: key,
      LOG_FORMAT: 'json',
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  const end = () => child.kill('SIGKILL'); // whoever started it may fail
  process.on('exit', end);
  child.on('close', () => process.off('exit', end));
  const stop = async () => {
    child.kill('SIGTERM');
    const [code] = await ended;
    return code;
  };
  for await (const line of createInterface({ input: child.stderr })) {
    const { url } = line.startsWith('{') ? JSON.parse(line) : {};
    if (url === undefined) continue;
    child.stderr.resume(); // nobody reads on, and a pipe that is full would hold the service
    return { url: new URL(url), stop };
  }
  throw new Error('the service did not start');
}
