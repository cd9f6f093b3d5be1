import { readFile, readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { readImports, type Import } from './imports.js';

/** Sources by their path below the repository's root, with `/` between its parts. */
export type SourceTree = ReadonlyMap<string, string>;

export interface Module {
  readonly path: string;
  readonly source: string;
  readonly imports: readonly ModuleImport[];
}

export interface ModuleImport extends Import {
  /** The path of the source that it means, if it is relative; else a package or a module of Node.js, as written. */
  readonly target: string | undefined;
}

/** Reads every TypeScript source below the folders; `root` ends in a slash. */
export async function readSourceTree(root: URL, folders: readonly string[]): Promise<SourceTree> {
  const tree = new Map<string, string>();
  for (const folder of folders) {
    for (const name of await readdir(new URL(folder, root), { recursive: true })) {
      const path = `${folder}/${name.replaceAll('\\', '/')}`;
      if (path.endsWith('.ts')) tree.set(path, await readFile(new URL(path, root), 'utf8'));
    }
  }
  return tree;
}

/** @throws {SyntaxError} naming the source that cannot be read. */
export const readModules = (tree: SourceTree): Module[] =>
  [...tree].map(([path, source]) => ({ path, source, imports: importsOf(path, source) }));

function importsOf(path: string, source: string): ModuleImport[] {
  try {
    return readImports(source).map(({ specifier, line }) => ({
      specifier,
      line,
      target: targetOf(path, specifier),
    }));
  } catch (cause) {
    throw new SyntaxError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function targetOf(path: string, specifier: string | undefined): string | undefined {
  if (specifier === undefined || !/^\.{0,2}\//.test(specifier)) return specifier;
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}
