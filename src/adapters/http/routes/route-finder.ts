import type { Route } from './route.js';

/** A route that was found, and what stands in its path for its parameters: as sent, percent-encoding and all. */
export interface FoundRoute {
  /** The route whose path this is. */
  readonly route: Route;
  /** By their names in the route's path; empty for a path without any. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Finds the route of a path, for transports without a router of their own. Paths are compared exactly: case,
 * slashes and percent-encoding count. A parameter is one segment of at least one character.
 */
export function createRouteFinder(routes: readonly Route[]): (path: string) => FoundRoute | undefined {
  const fixed = new Map<string, FoundRoute>();
  const patterns: Array<{ readonly route: Route; readonly names: readonly string[]; readonly form: RegExp }> =
    [];
  for (const route of routes) {
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    if (names.length === 0) fixed.set(route.path, { route, parameters: {} });
    else patterns.push({ route, names, form: formOf(route.path) });
  }
  return (path) => {
    const found = fixed.get(path);
    if (found !== undefined) return found;
    for (const { route, names, form } of patterns) {
      const match = form.exec(path);
      if (match === null) continue;
      const parameters = Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
      return { route, parameters };
    }
    return undefined;
  };
}

function formOf(path: string): RegExp {
  const literals = path.split(/\{\w+\}/).map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${literals.join('([^/]+)')}$`);
}
