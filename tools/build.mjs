// Compiles the program before it runs. Without the compiler (npm ci --omit=dev) the existing build is used.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const isBuilt = existsSync('build/src/bootstrap/main.js');

/** In a monorepo the compiler may be in a folder above. */
function compiler() {
  try {
    const { resolve } = createRequire(import.meta.url);
    return join(dirname(resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return undefined;
  }
}

const tsc = compiler();
if (tsc !== undefined) {
  if (!isBuilt) console.error('Building: this can take a minute ...');
  const stdio = ['ignore', 2, 2]; // a command's stdout is its own output only
  process.exitCode = spawnSync(process.execPath, [tsc, '--build', 'src'], { stdio }).status ?? 1;
  const docs = 'build/src/adapters/http/docs-page/swagger-ui-bundle.js.gz';
  if (!existsSync(docs)) await import('./docs-page.mjs');
} else if (!isBuilt) {
  console.error('The compiler is not installed: run npm ci --include=dev && npm run build once.');
  process.exitCode = 1;
}
