import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';

/** Where programs of the system are found: `CHECKERS` first, a folder of programs that only these tests use. */
export const PATH = [process.env['CHECKERS'], process.env['PATH'], '/usr/sbin', '/sbin']
  .filter(Boolean)
  .join(delimiter);

/** What a page tells for a program of the system is tried where that is; elsewhere it is pending, and says why. */
export function needing(
  programs: readonly string[],
  title: string,
  test: () => Promise<void>,
): void {
  const missing = programs.filter(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH } }).status !== 0,
  );
  if (missing.length > 0) it.skip(`${title} (needs ${missing.join(', ')})`, test);
  else it(title, test);
}
