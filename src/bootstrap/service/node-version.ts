import { readFileSync } from 'node:fs';

/** Before this, Node.js lacks a part of `node:sqlite` that the embedded store needs. */
const OLDEST = '22.16.0';

/** The package.json of this package: the one place that names its version and the supported versions of Node.js. */
export const MANIFEST = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string; readonly engines: { readonly node: string } };

/** What is wrong with a version of Node.js, in one line. If `fatal`, the animal store cannot run on it. */
export function nodeVersionFault(version: string): { fatal: boolean; message: string } | undefined {
  const ranges = MANIFEST.engines.node;
  if (ranges.split(' || ').some((range) => isIn(version, range))) return undefined;
  return isBefore(version, OLDEST)
    ? { fatal: true, message: `Node.js ${version} is too old for the animal store: use ${ranges}.` }
    : {
        fatal: false,
        message: `Warning: Node.js ${version} has known security faults: use ${ranges}.`,
      };
}

/** Knows the two kinds of range in package.json: `^1.2.3` and `>=1.2.3`. */
function isIn(version: string, range: string): boolean {
  const first = range.replace(/^(?:\^|>=)/, '');
  return (
    !isBefore(version, first) && (range.startsWith('>=') || parseInt(version) === parseInt(first))
  );
}

const isBefore = (version: string, other: string): boolean => sortable(version) < sortable(other);

/** A text that sorts as the version does. `localeCompare` would load the data of all languages: 6 ms of each start. */
const sortable = (version: string): string =>
  version.replaceAll(/\d+/g, (digits) => digits.padStart(5, '0'));

/** Hides what Node.js 22 prints at every start, that its SQLite is experimental, and no other warning. */
export function hideSqliteWarning(process: NodeJS.Process): void {
  const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]) => {
    if (!String(warning[0]).startsWith('SQLite is an experimental feature'))
      emitWarning(...warning);
  };
}
