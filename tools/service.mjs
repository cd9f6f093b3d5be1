import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export const main = fileURLToPath(new URL('../build/src/bootstrap/main.js', import.meta.url));

/**
 * Starts a service, by default the built one, on a free port. Resolves when it is ready, and rejects with its log if it
 * ends before. With `ipc`, `report` gets one from `watch-event-loop.mjs`, which the program must import.
 */
export async function startService(settings, { command, ipc = false } = {}) {
  const [program, ...args] = command ?? [process.execPath, main, 'serve'];
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...settings };
  const stdio = ['ignore', 'ignore', 'pipe', ...(ipc ? ['ipc'] : [])];
  const child = spawn(program, args, { env, stdio });
  const kill = () => child.kill('SIGKILL'); // does not outlive this process
  process.on('exit', kill);
  const ended = once(child, 'exit').finally(() => process.off('exit', kill));

  let log = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', function read(text) {
      log += text;
      const [, found] = /"url":"([^"]+)"/.exec(log) ?? [];
      if (found === undefined) return;
      child.stderr.off('data', read).resume(); // reading the log would cost processor time
      resolve(new URL(found));
    });
    child.on('close', (code) => reject(new Error(`the service ended with ${code}:\n${log}`)));
  });

  /** Resolves to the exit code and the signal that ended it. Without a signal it ends by itself. */
  const end = (signal) => {
    if (signal !== undefined) child.kill(signal);
    return ended;
  };
  const stop = () => end('SIGTERM');
  const report = async () => {
    child.send('report');
    return (await once(child, 'message'))[0];
  };
  return { url, pid: child.pid, end, stop, report, [Symbol.asyncDispose]: stop };
}
