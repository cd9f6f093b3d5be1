/** Before this, Node.js lacks a part of `node:sqlite` that the embedded store needs. */
const OLDEST = '22.16.0';

/** The version of this package: that of package.json, as a constant, so that the service can be bundled. */
export const VERSION = '0.3.0';

/** The supported versions of Node.js: those of package.json. */
const SUPPORTED = '^22.22.2 || ^24.14.1 || >=26';

/** What is wrong with a version of Node.js, in one line. If `fatal`, the animal store cannot run on it. */
export function nodeVersionFault(version: string): { fatal: boolean; message: string } | undefined {
  const isSupported = SUPPORTED.split(' || ').some((range) => isIn(version, range));
  if (isSupported) return undefined;
  const fatal = isBefore(version, OLDEST);
  const fault = fatal ? 'is too old for the animal store' : 'has known security faults';
  const start = fatal ? '' : 'Warning: ';
  return { fatal, message: `${start}Node.js ${version} ${fault}: use ${SUPPORTED}.` };
}

/**
 * Knows the two kinds of range in package.json: `^1.2.3` and `>=1.2.3`. By hand: every start would load `semver`, and
 * an old Node.js must get as far as this message.
 */
function isIn(version: string, range: string): boolean {
  const first = range.replace(/^(?:\^|>=)/, '');
  const isSameMajor = parseInt(version) === parseInt(first);
  return !isBefore(version, first) && (isSameMajor || range.startsWith('>='));
}

function isBefore(version: string, other: string): boolean {
  return sortable(version) < sortable(other);
}

/** A text that sorts as the version does. `localeCompare` would load the data of all languages: 6 ms of each start. */
function sortable(version: string): string {
  return version.replaceAll(/\d+/g, (digits) => digits.padStart(5, '0'));
}

/** Hides what Node.js 22 prints at every start, that its SQLite is experimental, and no other warning. */
export function hideSqliteWarning(process: NodeJS.Process): void {
  const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]) => {
    const isAboutSqlite = String(warning[0]).startsWith('SQLite is an experimental feature');
    if (!isAboutSqlite) emitWarning(...warning);
  };
}

/**
 * A line on stderr that says why the service does not start, or a warning before there is a log. Under `LOG_FORMAT=json`
 * it is JSON, as the lines of the log are.
 */
export function startLine(
  environment: { readonly [name: string]: string | undefined },
  level: 40 | 60,
  msg: string,
): string {
  if (environment['LOG_FORMAT'] !== 'json') return `${msg}\n`;
  return `${JSON.stringify({ level, time: new Date(), msg })}\n`;
}
