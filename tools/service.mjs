import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));

/**
 * The built service on a free port, with static keys. Resolves, once it listens, to where, its process, how to stop it,
 * and how to ask it something by a signal, to which it responds by a line of JSON on stderr.
 */
export async function startService(keys, storeUrl, nodeOptions = []) {
  const child = spawn(process.execPath, [...nodeOptions, main, 'serve'], {
    env: { HOST: '127.0.0.1', PORT: '0', STORE_URL: storeUrl, API_KEYS: keys, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const lines = createInterface({ input: child.stderr });
  /** The next object on stderr, in a line of its own, that has this member. */
  const next = (member) =>
    new Promise((resolve, reject) => {
      void ended.then(() => reject(new Error('the service ended')));
      lines.on('line', function look(line) {
        const found = line.includes(`"${member}":`) && JSON.parse(line);
        if (!found) return;
        lines.off('line', look);
        resolve(found);
      });
    });
  const { url } = await next('url');
  const ask = (signal, member) => {
    const answer = next(member);
    child.kill(signal);
    return answer;
  };
  lines.on('line', () => {}); // a pipe that nobody reads would hold the service
  return { url: new URL(url), pid: child.pid, stop, ask };
}
