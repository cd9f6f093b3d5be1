import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));
const SERVE = [process.execPath, main, 'serve'];

/**
 * Starts a service on a free port; by default the built one. Resolves when it listens. Rejects with an error that has
 * `lines` and the exit `code` if it ends before.
 */
export async function startService(settings, { command: [program, ...args] = SERVE, cwd } = {}) {
  const env = {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_FORMAT: 'json',
    ...settings,
  };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  const kill = () => child.kill('SIGKILL'); // whoever started it may fail
  process.on('exit', kill);
  child.on('exit', () => process.off('exit', kill));
  const lines = [];
  const [answers, log] = [child.stdout, child.stderr].map((stream) => {
    const input = createInterface({ input: stream });
    return { input, closed: once(input, 'close') };
  });
  log.input.on('line', (line) => {
    if (!/^\{"level":30.*"msg":"responded"/.test(line)) lines.push(line);
  });
  answers.input.on('line', () => {}); // a pipe that nobody reads would hold the service

  const next = ({ input, closed }, member) =>
    new Promise((resolve, reject) => {
      input.on('line', function look(line) {
        if (!line.startsWith('{') || !line.includes(`"${member}":`)) return;
        input.off('line', look);
        resolve(JSON.parse(line));
      });
      void Promise.all([ended, closed]).then(([[code]]) =>
        reject(Object.assign(new Error(`the service ended: ${lines.join('\n')}`), { code, lines })),
      );
    });
  const { url } = await next(log, 'url');
  /** Resolves to the exit code and the signal that ended it. Without a signal it ends by itself. */
  const end = (signal) => {
    if (signal !== undefined) child.kill(signal);
    return ended;
  };
  const stop = () => end('SIGTERM');
  /** Sends a signal, to which it responds by a line of JSON on stdout that has the member. */
  const ask = (signal, member) => {
    const answer = next(answers, member);
    child.kill(signal);
    return answer;
  };
  /** From now on the log costs this process next to nothing. */
  const ignoreLog = () => {
    log.input.close();
    child.stderr.resume();
  };
  // `lines` are those of the log, but for successful requests.
  return {
    url: new URL(url),
    pid: child.pid,
    lines,
    end,
    stop,
    ask,
    ignoreLog,
    [Symbol.asyncDispose]: stop,
  };
}
