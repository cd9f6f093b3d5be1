import type { DatabaseSync } from 'node:sqlite';

/** The value of a PRAGMA. */
export const readPragma = (database: DatabaseSync, name: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
