import type { DatabaseSync } from 'node:sqlite';
import { StoreFileError } from './store-file-error.js';

/** Marks an SQLite database as an animal store: "AnSt". */
const APPLICATION_ID = 0x416e5374n;

const SCHEMA_VERSION = 4n;

/** Times are milliseconds since 1970. */
const SCHEMA = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;
  -- An index entry ends with the rowid, here the id: a page of one status is one range of this index.
  CREATE INDEX pets_by_status ON pets (status);
  -- A claim outlives its animal.
  CREATE TABLE claims (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    pet_id INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX claims_by_keep_until ON claims (keep_until);
  -- 'record' is an ApiKeyRecord as JSON.
  CREATE TABLE api_keys (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- The last id that was assigned. SQLite would insert this row only with the first animal; a copy may raise it earlier.
  INSERT INTO sqlite_sequence (name, seq) VALUES ('pets', 0);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Whether the database is empty: a new file, or one whose creation was interrupted. */
const isEmpty = (database: DatabaseSync): boolean => pragma(database, 'schema_version') === 0n;

/** Creates the schema if the database is empty. */
export function createSchema(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  if (isEmpty(database)) database.exec(SCHEMA);
  database.exec('COMMIT');
}

export interface RequireStoreOptions {
  /** Whether the database may have no tables yet. Default: false. */
  readonly mayBeEmpty?: boolean;
}

/** @throws {StoreFileError} another program or version wrote the database, or it has a trigger */
export function requireStore(
  database: DatabaseSync,
  file: string,
  { mayBeEmpty = false }: RequireStoreOptions = {},
): void {
  if (mayBeEmpty && isEmpty(database)) return;
  if (pragma(database, 'application_id') !== APPLICATION_ID)
    throw new StoreFileError(file, 'is not a store of this program: name another file');
  const version = pragma(database, 'user_version');
  if (version !== SCHEMA_VERSION)
    throw new StoreFileError(
      file,
      `has schema version ${String(version)}, not ${SCHEMA_VERSION}: use the version of this program that wrote it`,
    );
  const trigger = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").get();
  if (trigger !== undefined)
    throw new StoreFileError(
      file,
      `has the trigger ${String(trigger[0])}, which could change animals: drop it`,
    );
}

/** The first value of a PRAGMA. */
const pragma = (database: DatabaseSync, name: string): unknown =>
  database.prepare(`PRAGMA ${name}`).get()?.[0];
