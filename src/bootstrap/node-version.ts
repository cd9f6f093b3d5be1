/** Before this `node:sqlite` lacks what the embedded store needs. */
const NEEDED = [22, 16, 0] as const;

/** The first releases of the long-term lines without known security faults; as in `engines` of package.json. */
const SAFE: ReadonlyMap<number, readonly number[]> = new Map([
  [22, [22, 22, 2]],
  [24, [24, 14, 1]],
]);

const parts = (version: string): number[] => version.split('.').map(Number);

function isBefore(version: readonly number[], other: readonly number[]): boolean {
  const index = other.findIndex((part, place) => part !== version[place]);
  return index !== -1 && (version[index] ?? 0) < (other[index] ?? 0);
}

/** Why this Node.js cannot run the animal store, or `undefined`. */
export const tooOldToRun = (version: string): string | undefined =>
  isBefore(parts(version), NEEDED)
    ? `The animal store needs Node.js ${NEEDED.join('.')} or later, and this is ${version}.`
    : undefined;

/** Why this Node.js should be updated, or `undefined`. */
export function tooOldToTrust(version: string): string | undefined {
  const [major = 0] = parts(version);
  const safe = SAFE.get(major);
  const unsafe = safe ? isBefore(parts(version), safe) : major < 24;
  return unsafe
    ? `Warning: Node.js ${version} has known security faults or is out of support; use ^22.22.2 or >=24.14.1.`
    : undefined;
}

/**
 * Node.js 22 warns, at every start, that its SQLite is experimental: it is the module that 24 has, and what
 * the store needs of it is tested on both. Every other warning is printed as before.
 */
export function hideSqliteWarning(process: NodeJS.Process): void {
  const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]) => {
    if (!String(warning[0]).startsWith('SQLite is an experimental feature')) emitWarning(...warning);
  };
}
