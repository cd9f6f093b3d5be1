/** The version of this package: that of package.json, as a constant, so that the service can be bundled. */
export const VERSION = '0.4.0';

/** The supported versions of Node.js: those of package.json. */
export const SUPPORTED_NODE = '^22.22.2 || ^24.14.1 || >=26';

/** Hides what Node.js 22 prints at every start, that its SQLite is experimental, and no other warning. */
export function hideSqliteWarning(process: NodeJS.Process): void {
  const emitWarning = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]) => {
    const isAboutSqlite = String(warning[0]).startsWith('SQLite is an experimental feature');
    if (!isAboutSqlite) emitWarning(...warning);
  };
}
