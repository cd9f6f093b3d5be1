import { mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PetClaim } from '../../application/ports/catalogue-transfer.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { copyTo } from './copy-to.js';
import { readPragma } from './read-pragma.js';
import { OTHER_FILE, StoreFileError } from './store-file-error.js';

/** Marks an SQLite database as an animal store: "AnSt". */
export const APPLICATION_ID = 0x416e5374;

/**
 * The steps that made the schema: the step at index n leads from version n to n + 1. Only ever append to them, because
 * files of every version exist. Times are milliseconds since 1970.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;

  -- Every index ends in the id, so a page of one status is one stretch of it.
  CREATE INDEX pets_by_status ON pets (status);

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
  // Version 2 added a table that version 3 dropped.
  '',
  String.raw`
  -- Up to version 2 the texts of claims and the ids and names of API keys were JSON texts, in quotes.
  DROP TABLE IF EXISTS deprecated_calls;

  -- Claims whose texts hold U+0000 or a lone surrogate are left behind: callers can no longer send such keys. Without
  -- its escaped backslashes, a JSON text has those characters exactly where it has these escapes.
  ALTER TABLE claims RENAME TO quoted_claims;
  CREATE TABLE claims (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    pet_id INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO claims
    SELECT scope ->> '$', token ->> '$', fingerprint ->> '$', pet_id, keep_until FROM quoted_claims
    WHERE replace(scope || token, '\\', '') NOT GLOB '*\u0000*'
    AND replace(scope || token, '\\', '') NOT GLOB '*\ud*';
  DROP TABLE quoted_claims;
  CREATE INDEX claims_by_keep_until ON claims (keep_until);

  -- Keys stay valid whatever they are called: U+0000 becomes U+FFFD, as lone surrogates do when they are read.
  UPDATE api_keys SET id = id ->> '$', name = replace(name, '\u0000', '\ufffd') ->> '$';
  ALTER TABLE api_keys DROP COLUMN replaced_by;
  `,
];

/** The version of the schema that this package writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

// The columns of an animal. A new field belongs in a new step of MIGRATIONS and in these declarations.

export const PET_COLUMNS = 'id, name, category_id, status';

/** SQLite assigns the id where it is null. */
export type PetRow<Id = bigint> = readonly [
  id: Id,
  name: string,
  categoryId: bigint,
  status: PetStatus,
];

export function petRow<Id>(id: Id, { name, categoryId, status }: UnsavedPet): PetRow<Id> {
  return [id, name, categoryId, status];
}

// `satisfies`: it does not compile while a field is missing, even an optional one.
export const toPet = ([id, name, categoryId, status]: PetRow): Pet =>
  petWithId(id, { name, categoryId, status } satisfies Record<keyof UnsavedPet, unknown>);

export const FIND_PET = `SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`;

export const INSERT_PET = `INSERT INTO pets (${PET_COLUMNS}) VALUES (?, ?, ?, ?)`;

export const UPDATE_PET = `UPDATE pets SET (${PET_COLUMNS}) = (?, ?, ?, ?) WHERE id = ?1`;

/** A row that belongs to no table marks an unfinished copy. A table of its own would need a new version of the schema. */
export const FIND_COPY_MARK = "SELECT seq FROM sqlite_sequence WHERE name = 'unfinished copy'";

/** AUTOINCREMENT looks here (https://sqlite.org/autoinc.html). The row appears with the first animal. */
export const LAST_ID = "SELECT seq FROM sqlite_sequence WHERE name = 'pets'";

export const CLAIM_COLUMNS = 'scope, key, fingerprint, pet_id, keep_until';

export type ClaimRow = readonly [string, string, string, bigint, bigint];

export const claimRow = ({ scope, key, fingerprint, petId, keepUntil }: PetClaim) =>
  [scope, key, fingerprint, petId, keepUntil] as const;

export function toClaim([scope, key, fingerprint, petId, keepUntil]: ClaimRow): PetClaim {
  return { scope, key, fingerprint, petId, keepUntil: Number(keepUntil) };
}

/** Replaces the claim with the same scope and key. */
export const PUT_CLAIM = `INSERT OR REPLACE INTO claims (${CLAIM_COLUMNS}) VALUES (?, ?, ?, ?, ?)`;

/**
 * Returns the version of a store's schema; 0 if it has none yet.
 * @throws {StoreFileError} another program wrote the database, or a newer version of this one
 */
export function schemaVersion(database: DatabaseSync, file: string): number {
  const id = readPragma(database, 'application_id');
  if (id !== APPLICATION_ID) {
    const why = `its application id is ${String(id)}, not ${APPLICATION_ID}`;
    const hint = id === 0 ? ', which .dump drops' : '';
    const what = `is the SQLite database of another program (${why}${hint})`;
    throw new StoreFileError(file, `${what}: ${OTHER_FILE}`);
  }
  const version = Number(readPragma(database, 'user_version'));
  if (version <= SCHEMA_VERSION) return version;
  const newest = `newer than ${SCHEMA_VERSION}, the newest that this program knows`;
  throw new StoreFileError(
    file,
    `has schema version ${version}, ${newest}: use the program that wrote it`,
  );
}

/** @throws {StoreFileError} the schema is of an older version */
export function requireUpgraded(database: DatabaseSync, file: string): void {
  const version = schemaVersion(database, file);
  if (version === SCHEMA_VERSION) return;
  const advice =
    'use the program that wrote it, or back it up and start the service, which upgrades it';
  throw new StoreFileError(
    file,
    `has schema version ${version}, and reading does not upgrade it: ${advice}`,
  );
}

/**
 * Creates the schema, or upgrades an older one in one transaction: after a notice that names a copy of the file, in a new
 * folder beside it. A failed upgrade leaves no copy. Close the database if it throws.
 */
export function upgradeSchema(
  database: DatabaseSync,
  file: string,
  onNotice: (line: string) => void,
): void {
  if (schemaVersion(database, file) === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  // Read again under the lock: another process may have been faster.
  const version = schemaVersion(database, file);
  let folder: string | undefined;
  try {
    if (version > 0 && version < SCHEMA_VERSION) {
      folder = mkdtempSync(`${file}.version-${version}-`);
      const copy = join(folder, basename(file));
      using other = new DatabaseSync(file); // in the transaction of this one, SQLite refuses to copy
      copyTo(copy, other);
      const warning = `older programs cannot open it any more. A copy for them is ${copy}`;
      onNotice(`upgrading ${file} from schema version ${version} to ${SCHEMA_VERSION}: ${warning}`);
    }
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
