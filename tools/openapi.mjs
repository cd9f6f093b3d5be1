// Keeps docs/openapi.json, the committed copy of the document that a service with default settings publishes.
// Run it after the build. As it is, it writes the copy anew, unless clients of the old one would break: that takes
// --breaking. With --check it writes nothing, and fails when the document has a fault by Redocly's rules, would break
// clients of the copy, or differs from it. (Redocly's numbers are doubles: a bound of int64 that moves by one is no
// change to its diff, but a difference to the copy.)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const copy = join(root, 'docs/openapi.json');
const { openApiDocument } = await import(
  new URL('../build/src/adapters/http/open-api/open-api-document.js', import.meta.url).href
);
const { check = false, breaking = false } = parseArgs({
  options: { check: { type: 'boolean' }, breaking: { type: 'boolean' } },
}).values;

function redocly(...args) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js')), ...args],
    {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  return { passed: status === 0, output: `${stdout}${stderr}` };
}

/** What is wrong with the document in the file, if anything is. */
function faultOf(file) {
  const lint = redocly('lint', file);
  if (!lint.passed) return lint.output;
  if (breaking || !existsSync(copy)) return undefined;
  const diff = redocly('diff', copy, file, '--fail-on', 'major');
  if (!diff.passed) {
    return `${diff.output}\nThis would break clients. If it must be: npm run openapi -- --breaking`;
  }
  const isStale = check && readFileSync(copy, 'utf8') !== readFileSync(file, 'utf8');
  return isStale ? `${diff.output}\ndocs/openapi.json is stale: npm run openapi` : undefined;
}

using folder = mkdtempDisposableSync(join(tmpdir(), 'animal-store-openapi-'));
const made = join(folder.path, 'openapi.json');
writeFileSync(made, openApiDocument());
const fault = faultOf(made);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
} else if (!check) writeFileSync(copy, openApiDocument());
