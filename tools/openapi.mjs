// Writes docs/openapi.json, the committed copy of the document that a service with default settings publishes. Refuses a
// document that breaks a rule of Redocly, or that would break clients, unless --breaking is given. Run it after the
// build. (Redocly's numbers are doubles: a bound of int64 that moves by one is no change to its diff.)
import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from '../build/src/adapters/http/open-api/open-api-document.js';
import { temporaryFolder } from './temporary-folder.mjs';

const COPY = 'docs/openapi.json';

/** Whether a command of Redocly succeeds. It prints what is wrong. */
const redocly = (...args) => spawnSync('redocly', args, { stdio: 'inherit' }).status === 0;

using folder = temporaryFolder();
const made = join(folder.path, 'openapi.json');
writeFileSync(made, openApiDocument());
const mayBreak = process.argv.includes('--breaking');
if (!redocly('lint', made)) process.exitCode = 1;
else if (!mayBreak && !redocly('diff', COPY, made, '--fail-on', 'major')) {
  console.error('This would break clients. If it must be: npm run openapi -- --breaking');
  process.exitCode = 1;
} else copyFileSync(made, COPY);
