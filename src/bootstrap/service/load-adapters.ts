import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container, ContainerModule } from 'inversify';
import { resultWithin } from './time-limit.js';
import { wiring, type Adapter } from './wiring.js';

/** What Node.js adds to the name of a package that it does not find. */
const IMPORTED_HERE = ` imported from ${import.meta.filename}`;

/**
 * Loads the modules that `ADAPTERS` names into a container, as if a module in the working directory imported them.
 * Resolves to one line for each that cannot be loaded.
 * @param patience how long a module may take, in milliseconds
 */
export async function loadAdapters(
  specifiers: readonly string[],
  container: Container,
  patience = 10_000,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const specifier of specifiers) {
    const late = `It did not load within ${patience / 1000} s.`;
    const reason = await resultWithin(patience, loadFault(specifier, container), late);
    if (reason !== undefined) faults.push(`ADAPTERS: ${specifier} cannot be loaded: ${reason}`);
  }
  return faults;
}

/** Loads a module. Resolves to the reason if it cannot be loaded, in one line. */
async function loadFault(specifier: string, container: Container): Promise<string | undefined> {
  try {
    await loadModule(specifier, container);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/\n[^]*/, '').replace(IMPORTED_HERE, '');
  }
}

async function loadModule(specifier: string, container: Container): Promise<void> {
  const { adapter }: { adapter?: unknown } = await import(resolveSpecifier(specifier));
  if (!isAdapter(adapter))
    throw new Error('It exports no adapter, a function or a ContainerModule of inversify.');
  await load(container, adapter);
}

/** By its shape, not its class: another copy of inversify may have made the module. */
function isAdapter(value: unknown): value is Adapter {
  return (
    typeof value === 'function' || typeof (value as ContainerModule | null)?.load === 'function'
  );
}

/** Lets an adapter bind in a container. */
export async function load(container: Container, adapter: Adapter): Promise<void> {
  if (typeof adapter === 'function') await adapter(wiring(container));
  else await container.loadAsync(adapter);
}

function resolveSpecifier(specifier: string): string {
  const isPath = /^(?:\.{0,2}\/|[a-z]:[\\/])/i.test(specifier);
  if (isPath) return pathToFileURL(resolve(specifier)).href;
  try {
    // `createRequire` takes the path of a module, which need not exist.
    return pathToFileURL(createRequire(resolve('adapters.js')).resolve(specifier)).href;
  } catch {
    if (statSync(specifier, { throwIfNoEntry: false })?.isFile())
      throw new Error(`It is a file: write ./${specifier}.`);
    // A URL, or a package without an entry for `require`: found from this module, or not at all.
    return specifier;
  }
}
