// Brings build/src up to date before the program runs, and the further projects that are named. Without the
// compiler (npm ci --omit=dev) the files built before run as they are.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `${root}node_modules/typescript/bin/tsc`;
const program = `${root}build/src/bootstrap/main.js`;

if (existsSync(compiler)) {
  // The script of the docs page refers to src: this builds both.
  const projects = ['src/adapters/http/docs-page', ...process.argv.slice(2)];
  const notice = setTimeout(() => console.error('Building: this can take a minute ...'), 1_000);
  const child = spawn(process.execPath, [compiler, '--build', ...projects], {
    cwd: root,
    stdio: ['ignore', 2, 2], // a command's stdout is its own output only
  });
  const [status] = await once(child, 'exit');
  clearTimeout(notice);
  process.exitCode = status ?? 1;
} else if (!existsSync(program)) {
  console.error(
    'Nothing is built and the compiler is not installed: run npm ci && npm run build once.',
  );
  process.exitCode = 1;
}
