import type { DatabaseSync } from 'node:sqlite';

/** Tells an animal store from every other SQLite database: "AnSt", in bytes 68 to 71 of the file. */
export const APPLICATION_ID = 0x416e5374;

/**
 * The schema as the steps that made it: the step at index n leads from version n to n + 1. Steps are only
 * ever appended, for files of every version exist.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;

  -- Ends in the id, as every index does: a page of one status is one stretch of it.
  CREATE INDEX pets_by_status ON pets (status);

  -- Times are milliseconds since 1970. Texts are JSON texts (exact-text.ts).
  CREATE TABLE claims (
    scope TEXT NOT NULL,
    token TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    pet_id INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    PRIMARY KEY (scope, token)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX claims_by_keep_until ON claims (keep_until);

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    replaced_by TEXT
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Begins with the day, a plain text that sorts: those since a day are one stretch of it.
  CREATE TABLE deprecated_calls (
    day TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    calls INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (day, operation_id, key_id)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** The version that the schema has, 0 when there is none. */
const schemaVersion = (database: DatabaseSync): number =>
  Number(database.prepare('PRAGMA user_version').get()?.['user_version']);

/**
 * Brings an older schema up to `migrations`, in one transaction: wholly or not at all. One that is newer is
 * left alone. Returns the version that the schema has now.
 */
export function upgradeSchema(database: DatabaseSync, migrations: readonly string[]): number {
  if (schemaVersion(database) >= migrations.length) return schemaVersion(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    // Asked again under the lock: another process may have been faster.
    const version = schemaVersion(database);
    if (version < migrations.length) {
      for (const migration of migrations.slice(version)) database.exec(migration);
      database.exec(`PRAGMA user_version = ${migrations.length}`);
    }
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
  return schemaVersion(database);
}
