import { readFile, readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** Sources by their path below the repository's root, with `/` between its parts. */
export type SourceTree = ReadonlyMap<string, string>;

export interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  /** Every name that the module reads or declares, members of objects apart. */
  readonly names: readonly { readonly name: string; readonly line: number }[];
  /** The lines where an object literal is looked up by a computed name. */
  readonly tables: readonly number[];
}

/** That a module needs another: for values or types, when it is loaded or later. */
interface Import {
  /** As written; `undefined` where it is computed when the program runs. */
  readonly specifier: string | undefined;
  /** The path of the source that it means, if it is relative; else the specifier. */
  readonly target: string | undefined;
  /** Counted from 1. */
  readonly line: number;
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
export function readModule(path: string, source: string): Module {
  const { module, program, errors } = parseSync(path, source);
  if (errors[0] !== undefined) throw new SyntaxError(`${path}: ${errors[0].message}`);
  const nodes = [...nodesIn(program)];
  const lineAt = (offset: number): number => source.slice(0, offset).split('\n').length;
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest),
    ...module.staticExports.flatMap(({ entries }) => entries[0]?.moduleRequest ?? []),
    ...module.dynamicImports.map(({ moduleRequest }) => moduleRequest),
    ...nodes.flatMap(({ type, source: from }) =>
      type === 'TSImportType' && isNode(from) ? [from] : [],
    ),
  ];
  const imports = requests.map(({ start, end }): Import => {
    const specifier = /^(['"])(?<text>.*)\1$/s.exec(source.slice(start, end))?.groups?.['text'];
    return { specifier, target: targetOf(path, specifier), line: lineAt(start) };
  });
  const names = nodes.flatMap(({ type, name, start }) =>
    type === 'Identifier' && typeof name === 'string' ? [{ name, line: lineAt(start) }] : [],
  );
  const tables = nodes.flatMap(({ type, computed, object, start }) =>
    type === 'MemberExpression' && computed && isNode(object) && object.type === 'ObjectExpression'
      ? [lineAt(start)]
      : [],
  );
  return { path, imports, names, tables };
}

function targetOf(path: string, specifier: string | undefined): string | undefined {
  if (specifier === undefined || !/^\.{0,2}\//.test(specifier)) return specifier;
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

/** A node of the syntax tree, in the form that ESTree gives it. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

/** Every node, but those that only name a member. */
export function* nodesIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* nodesIn(item);
  if (!isNode(value)) return;
  yield value;
  for (const [property, child] of Object.entries(value)) {
    const namesMember =
      ((property === 'property' || property === 'key') && value['computed'] === false) ||
      (property === 'right' && value.type === 'TSQualifiedName') ||
      property === 'imported';
    if (!namesMember) yield* nodesIn(child);
  }
}
