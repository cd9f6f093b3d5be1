import { posix } from 'node:path';
import { LAYERS, RULES, type LayerRule } from './rules.js';
import type { Module } from './source-tree.js';

/** A rule broken: where and by what, in one line. */
export interface Violation {
  readonly law: string;
  readonly message: string;
}

/** Every place where the modules break a rule, in their order. */
export function findViolations(modules: readonly Module[]): Violation[] {
  return [
    ...modules.flatMap((module) => [
      ...placeViolations(module),
      ...importViolations(module),
      ...module.tables.map((line) =>
        violation(RULES.table, `${module.path}:${line}`, 'looks up an object literal'),
      ),
      ...[RULES.globals, RULES.runtime].flatMap((rule) => namesViolations(rule, module)),
    ]),
    ...cycleViolations(modules),
  ];
}

const violation = ({ law }: { readonly law: string }, where: string, what: string): Violation => ({
  law,
  message: `${where}: ${what}, but ${law}`,
});

const layerOf = (path: string): LayerRule | undefined =>
  LAYERS.find(({ place }) => place.test(path));

const placeViolations = ({ path }: Module): Violation[] =>
  layerOf(path) === undefined
    ? [violation(RULES.place, path, 'no rule says what it may import')]
    : [];

function importViolations({ path, imports }: Module): Violation[] {
  return imports.flatMap(({ specifier, target, line }) => {
    const where = `${path}:${line}`;
    if (specifier === undefined || target === undefined) {
      return RULES.computed.place.test(path)
        ? []
        : [violation(RULES.computed, where, 'import() of a computed name')];
    }
    const what = `imports ${specifier}`;
    if (target === specifier) return outsideViolations(path, specifier, where, what);
    const layer = layerOf(path);
    return layer && !mayImport(layer, path, target) ? [violation(layer, where, what)] : [];
  });
}

function mayImport(layer: LayerRule, path: string, target: string): boolean {
  const groups = layer.place.exec(path)?.groups ?? {};
  return layer.mayImport
    .map((pattern) => pattern.replaceAll(/<(\w+)>/g, (_, name: string) => groups[name] ?? ''))
    .some((pattern) => {
      if (pattern.endsWith('/')) return target.startsWith(pattern);
      if (pattern.endsWith('/*')) return posix.dirname(target) === posix.dirname(pattern);
      return target === pattern;
    });
}

/** Packages, their subpaths included, and modules of Node.js. */
function outsideViolations(
  path: string,
  specifier: string,
  where: string,
  what: string,
): Violation[] {
  const [name = specifier] = specifier.startsWith('node:')
    ? [specifier]
    : (/^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? []);
  const home = RULES.home.homes.get(name);
  if (home) return home.test(path) ? [] : [violation(RULES.home, where, what)];
  if (!specifier.startsWith('node:')) return [violation(RULES.home, where, what)];
  return RULES.node.places.some((place) => place.test(path))
    ? []
    : [violation(RULES.node, where, what)];
}

const namesViolations = (
  rule: (typeof RULES)['globals' | 'runtime'],
  { path, names }: Module,
): Violation[] =>
  rule.places.some((place) => place.test(path))
    ? names
        .filter(({ name }) => rule.names.has(name))
        .map(({ name, line }) => violation(rule, `${path}:${line}`, `uses ${name}`))
    : [];

/** Each cycle once, from where it is first met. Types count too: a cycle of types ties modules together as well. */
function cycleViolations(modules: readonly Module[]): Violation[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const way: string[] = [];
  const found: Violation[] = [];
  const visit = (path: string): void => {
    const start = way.indexOf(path);
    if (start !== -1)
      found.push(violation(RULES.cycle, path, [...way.slice(start), path].join(' -> ')));
    if (start !== -1 || done.has(path)) return;
    way.push(path);
    for (const { target = '' } of byPath.get(path)?.imports ?? [])
      if (byPath.has(target)) visit(target);
    way.pop();
    done.add(path);
  };
  for (const { path } of modules) visit(path);
  return found;
}
