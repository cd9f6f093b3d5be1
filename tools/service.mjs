import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));

/**
 * A service on a free port; by default the built one. Resolves, once it listens, to where, its process, how to stop it
 * (`stop` resolves to the exit code and the signal), and how to ask it something by a signal, to which it responds
 * by a line of JSON on stdout that has a certain member: on stderr it could end up within a line of the log.
 */
export async function startService(settings, [command, ...args] = [process.execPath, main, 'serve'], cwd) {
  const env = { HOST: '127.0.0.1', PORT: '0', LOG_FORMAT: 'json', ...settings };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const end = () => child.kill('SIGKILL'); // whoever started it may fail
  process.on('exit', end);
  child.on('close', () => process.off('exit', end));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  const [answers, log] = [child.stdout, child.stderr].map((input) => createInterface({ input }));
  const next = (lines, member) =>
    new Promise((resolve, reject) => {
      void ended.then(() => reject(new Error('the service ended')));
      lines.on('line', function look(line) {
        if (!line.startsWith('{') || !line.includes(`"${member}":`)) return;
        lines.off('line', look);
        resolve(JSON.parse(line));
      });
    });
  const { url } = await next(log, 'url');
  const ask = (signal, member) => {
    const answer = next(answers, member);
    child.kill(signal);
    return answer;
  };
  for (const lines of [answers, log]) lines.on('line', () => {}); // a pipe that nobody reads would hold the service
  /** From now on the log costs this process next to nothing. */
  const ignoreLog = () => {
    log.close();
    child.stderr.resume();
  };
  return { url: new URL(url), pid: child.pid, stop, ask, ignoreLog };
}
