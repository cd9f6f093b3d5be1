import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Container } from 'inversify';
import { isError } from '../../domain/errors.js';
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
    const { promise: late, reject: giveUp } = Promise.withResolvers<never>();
    // The timer keeps a process that waits for nothing else: it would end without a word.
    const timer = setTimeout(giveUp, patience, `It did not load within ${patience / 1000} s.`);
    await Promise.race([loadModule(specifier, container), late]).catch((error: unknown) => {
      const [reason = ''] = (isError(error) ? error.message : String(error)).split('\n', 1);
      faults.push(`ADAPTERS: ${specifier} cannot be loaded: ${reason.replace(IMPORTED_HERE, '')}`);
    });
    clearTimeout(timer);
  }
  return faults;
}

async function loadModule(specifier: string, container: Container): Promise<void> {
  const { adapter } = (await import(resolveSpecifier(specifier))) as Readonly<
    Record<string, unknown>
  >;
  // The shape, not the class: another copy of inversify may have made the module.
  if (typeof adapter !== 'function' && typeof Object(adapter).load !== 'function')
    throw new Error('It exports no adapter, a function or a ContainerModule of inversify.');
  await load(container, adapter as Adapter);
}

/** Lets an adapter bind in a container. */
export async function load(container: Container, adapter: Adapter): Promise<void> {
  if (typeof adapter === 'function') await adapter(wiring(container));
  else await container.loadAsync(adapter);
}

function resolveSpecifier(specifier: string): string {
  if (/^(?:\.{0,2}\/|[a-z]:[\\/])/i.test(specifier)) return pathToFileURL(resolve(specifier)).href;
  try {
    return pathToFileURL(createRequire(resolve('adapters.js')).resolve(specifier)).href;
  } catch {
    if (statSync(specifier, { throwIfNoEntry: false })?.isFile())
      throw new Error(`It is a file: write ./${specifier}.`);
    return specifier; // a URL, or a package without an entry for `require`: found from this module, or not at all
  }
}
