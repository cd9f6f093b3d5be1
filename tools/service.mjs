import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));

/**
 * A service on a free port; by default the built one. Resolves, once it listens, to where, to its process, and to how
 * to stop it: `stop` resolves to the exit code and the signal.
 */
export async function startService(settings, [command, ...args] = [process.execPath, main, 'serve'], cwd) {
  const env = { HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: 'json', ...settings };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  for await (const line of createInterface({ input: child.stderr })) {
    const { url } = line.startsWith('{') ? JSON.parse(line) : {};
    if (url === undefined) continue;
    child.stderr.resume(); // nobody reads on, and a pipe that is full would hold the service
    return { url: new URL(url), pid: child.pid, stop };
  }
  throw new Error('the service did not start');
}
