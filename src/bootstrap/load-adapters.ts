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
      else
        faults.push(`ADAPTERS names ${specifier}, which exports no adapter, a ContainerModule of inversify`);
    } catch (error) {
      faults.push(`ADAPTERS names ${specifier}, which cannot be loaded: ${whyNotLoaded(specifier, error)}`);
    }
  }
  return { adapters, faults };
}

/** Imports a module as if a module in the working directory named it. */
export const importModule = async (specifier: string): Promise<Readonly<Record<string, unknown>>> =>
  import(resolveSpecifier(specifier));

function resolveSpecifier(specifier: string): string {
  if (/^(?:file|data|node):/.test(specifier)) return specifier;
  if (/^(?:\.{0,2}\/|[a-z]:[\\/])/i.test(specifier)) return pathToFileURL(resolve(specifier)).href;
  try {
    return pathToFileURL(createRequire(resolve('adapters.js')).resolve(specifier)).href;
  } catch {
    return specifier; // a package without an entry for `require`: found from this module, or not at all
  }
}

/** Why a module cannot be loaded, in one line. As in every import, a name without a leading dot is a package's. */
export function whyNotLoaded(specifier: string, error: unknown): string {
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  const isFile = !/^(?:[./\\]|[a-z]:)/i.test(specifier) && existsSync(specifier);
  return isFile ? `${reason} (did you mean ./${specifier}?)` : reason;
}

/** Judged by form, not class: another copy of inversify may have made the module. */
export const isContainerModule = (value: unknown): value is ContainerModule =>
  typeof value === 'object' && value !== null && 'load' in value && 'id' in value;

interface Contract {
  readonly port: string;
  readonly cases: readonly { readonly name: string }[];
}

export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly reason?: string;
  readonly error?: unknown;
}

/** Opens a fresh store for a case. The suites say what else it may have. */
export type OpenSubject = () => Promise<{ readonly pets: unknown; readonly dispose: () => Promise<void> }>;

/** The part of `animal-store/contract` that `check-store` uses. The suites are compiled after the program. */
export interface Suites {
  readonly storeContracts: readonly Contract[];
  readonly runContract: (of: Contract, open: OpenSubject, options: object) => Promise<readonly CaseResult[]>;
}

const SUITES: string = 'animal-store/contract';

/** Loads the contract suites of this package. A checkout may not have compiled them. */
export async function importSuites(): Promise<Suites> {
  const suites: unknown = await import(SUITES).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  });
  if (suites === undefined)
    throw new Error('The contract suites are not compiled: run `npm run build` first.');
  return suites as Suites;
}
