import { readFileSync } from 'node:fs';
import type { ManagedApiKeys } from '../adapters/api-keys/managed-api-keys.js';
import { runCli } from '../adapters/cli/cli.js';
import type { Operations, Terminal } from '../adapters/cli/operations.js';
import { openApiDocument } from '../adapters/http/open-api/open-api-document.js';
import type { Clock } from '../application/ports/clock.js';
import { isAnimalStoreError } from '../domain/errors.js';
import { checkStore } from './check-store.js';
import { createContainer } from './container.js';
import { copy } from './copy.js';
import { loadAdapters } from './load-adapters.js';
import { managedKeys } from './managed-keys.js';
import { openingStore } from './modules/store-opening.js';
import { serve } from './serve.js';
import { SettingsError, readSettings } from './settings.js';
import type { OpenOptions } from '../application/ports/store.js';
import { TOKENS } from './tokens.js';

/** Runs a command line. Resolves to the exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function run(args: readonly string[], process: NodeJS.Process): Promise<number> {
  const operations: Operations = {
    serve: () => serve(readSettings(process.env), process),
    openApi: () => openApiDocument(readSettings(process.env).http),
    withKeys: (use, options) => withKeys(process.env, use, options),
    copy: (request, onProgress) => copy(request, onProgress, process),
    checkStore: (request, onProgress) => checkStore(request, onProgress, process),
  };
  const { stdout, stderr } = process;
  const terminal: Terminal = {
    out: (text) => void stdout.write(text),
    note: (text) => void stderr.write(`${text}\n`),
    // A line as wide as the terminal would break, and could not be rewritten. One that does not know its width
    // (within `script`, or an editor) says 0.
    ...(stderr.isTTY && {
      show: (line) => void stderr.write(`\r${line.slice(0, (stderr.columns || 80) - 1)}\u001b[K`),
    }),
  };
  try {
    return await runCli(args, operations, terminal, version());
  } catch (error) {
    terminal.note(description(error, process.env['HOST']));
    return error instanceof SettingsError ? 2 : 1;
  }
}

async function withKeys<T>(
  environment: NodeJS.ProcessEnv,
  use: (keys: ManagedApiKeys, clock: Clock) => Promise<T>,
  options?: OpenOptions,
): Promise<T> {
  const settings = readSettings(environment);
  if (settings.storeUrl === 'memory:') {
    throw new Error(
      'A memory store is inside the service that runs it: its keys cannot be reached from here. Use API_KEYS.',
    );
  }
  const adapters = await loadAdapters(settings.adapters);
  const container = await createContainer(settings, [openingStore(options), ...adapters]);
  const store = await container.getAsync(TOKENS.store);
  try {
    const keys = await managedKeys(container);
    if (keys === undefined) throw new Error('This store keeps no API keys. Use API_KEYS.');
    return await use(keys, container.get(TOKENS.clock));
  } finally {
    await store.close();
  }
}

const OWN_ADDRESS = 'HOST to an address of this machine';

/**
 * One line for what people can do something about; a stack for faults of the program.
 * @param host as it is set
 */
function description(error: unknown, host: string | undefined): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SettingsError) return ['These settings cannot be used:', ...error.faults].join('\n  ');
  if ('code' in error && error.code === 'EADDRINUSE')
    return `${error.message}. Set PORT; 0 takes a free one.`;
  if ('code' in error && 'syscall' in error && error.syscall === 'listen') {
    const advice = error.code === 'EACCES' ? 'PORT to one that this user may take' : OWN_ADDRESS;
    return `${error.message}. Set ${advice}.`;
  }
  // A store may be at a host that is not found, too.
  if ('hostname' in error && error.hostname === host) return `${error.message}. Set ${OWN_ADDRESS}.`;
  if (isAnimalStoreError(error) && error.cause instanceof Error)
    return `${error.message} ${error.cause.message}`;
  const isProgramFault = [TypeError, RangeError, ReferenceError, SyntaxError].some(
    (kind) => error instanceof kind,
  );
  return isProgramFault ? (error.stack ?? error.message) : error.message;
}

function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
