import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ContainerModule } from 'inversify';
import { SettingsError } from './settings.js';

/**
 * Loads the modules that `ADAPTERS` names. Paths are relative to the working directory, and so are packages:
 * they are looked for as if they were imported from there.
 * @throws {SettingsError} naming every module that cannot be loaded, or that exports no `adapter`
 */
export async function loadAdapters(specifiers: readonly string[]): Promise<readonly ContainerModule[]> {
  const faults: string[] = [];
  const adapters: ContainerModule[] = [];
  for (const specifier of specifiers) {
    try {
      const { adapter } = await importModule(specifier);
      if (isContainerModule(adapter)) adapters.push(named(specifier, adapter));
      else
        faults.push(`ADAPTERS names ${specifier}, which exports no adapter: a ContainerModule of inversify`);
    } catch (error) {
      faults.push(`ADAPTERS names ${specifier}, which cannot be loaded: ${whyNotLoaded(specifier, error)}`);
    }
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return adapters;
}

/** Imports a module as if it were named in one that stands in the working directory. */
export const importModule = async (specifier: string): Promise<Readonly<Record<string, unknown>>> =>
  import(resolveSpecifier(specifier));

/** In one line. */
export const whyNotLoaded = (specifier: string, error: unknown): string =>
  `${firstLine(error)}${hint(specifier)}`;

function resolveSpecifier(specifier: string): string {
  if (/^(?:file|data|node):/.test(specifier)) return specifier;
  if (/^(?:\.{0,2}\/|[a-z]:[\\/])/i.test(specifier)) return pathToFileURL(resolve(specifier)).href;
  try {
    return pathToFileURL(createRequire(resolve('adapters.js')).resolve(specifier)).href;
  } catch {
    return specifier; // a package without an entry for `require`: found from here, or not at all
  }
}

/** The same module; if it fails to bind what it brings, it is told which one it was. */
const named = (specifier: string, adapter: ContainerModule): ContainerModule =>
  new ContainerModule(async (options) => {
    try {
      await adapter.load(options);
    } catch (error) {
      throw new SettingsError([`ADAPTERS names ${specifier}, which failed: ${firstLine(error)}`]);
    }
  });

/** What an error says, in one line. */
export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

/** Without a dot in front a name is a package's, as in every import. */
const hint = (specifier: string): string =>
  !specifier.startsWith('.') && existsSync(specifier) ? ` (the file is ./${specifier})` : '';

/** By its form, not its class: the module may have been made by another copy of inversify. */
export const isContainerModule = (value: unknown): value is ContainerModule =>
  typeof value === 'object' && value !== null && 'load' in value && 'id' in value;
