import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContainerModule } from 'inversify';

/**
 * Loads the modules that `ADAPTERS` names, as if a module in the working directory imported them. `faults` names every
 * one that cannot be loaded or exports no `adapter`.
 */
export async function loadAdapters(
  specifiers: readonly string[],
): Promise<{ readonly adapters: readonly ContainerModule[]; readonly faults: readonly string[] }> {
  const faults: string[] = [];
  const adapters: ContainerModule[] = [];
  for (const specifier of specifiers) {
    try {
      const { adapter } = await importModule(specifier);
      if (isContainerModule(adapter)) adapters.push(adapter);
      else faults.push(`ADAPTERS: ${specifier} exports no adapter, a ContainerModule of inversify`);
    } catch (error) {
      faults.push(`ADAPTERS: ${(error as Error).message}`);
    }
  }
  return { adapters, faults };
}

/**
 * Imports a module as if a module in the working directory named it.
 * @throws {Error} saying why it cannot be loaded
 */
const importModule = async (specifier: string): Promise<Readonly<Record<string, unknown>>> =>
  import(resolveSpecifier(specifier)).catch((cause: unknown) => {
    throw new Error(`${specifier} cannot be loaded: ${whyNotLoaded(specifier, cause)}`);
  });

function resolveSpecifier(specifier: string): string {
  if (/^(?:\.{0,2}\/|[a-z]:[\\/])/i.test(specifier)) return pathToFileURL(resolve(specifier)).href;
  try {
    return pathToFileURL(createRequire(resolve('adapters.js')).resolve(specifier)).href;
  } catch {
    return specifier; // a URL, or a package without an entry for `require`: found from this module, or not at all
  }
}

/** Why a module cannot be loaded, in one line. As in every import, a name without a leading dot is a package's. */
function whyNotLoaded(specifier: string, error: unknown): string {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  const isFile = !/^(?:[./\\]|[a-z]:)/i.test(specifier) && existsSync(specifier);
  return isFile ? `${reason} (did you mean ./${specifier}?)` : reason;
}

/** Checks the shape, not the class: another copy of inversify may have made the module. */
const isContainerModule = (value: unknown): value is ContainerModule =>
  typeof value === 'object' && value !== null && 'load' in value && 'id' in value;
