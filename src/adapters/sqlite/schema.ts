import type { DatabaseSync } from 'node:sqlite';
import type { PetClaim } from '../../application/ports/catalogue-transfer.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { readPragma } from './read-pragma.js';
import { OTHER_FILE, StoreFileError } from './store-file-error.js';

/** Marks an SQLite database as an animal store: "AnSt". */
export const APPLICATION_ID = 0x416e5374;

/** The version of the schema. */
export const SCHEMA_VERSION = 4;

/** Times are milliseconds since 1970. */
const SCHEMA = `
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
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    pet_id INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX claims_by_keep_until ON claims (keep_until);

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;
`;

// The columns of an animal. A new field belongs in SCHEMA and in these declarations.

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

/** A row that belongs to no table marks an unfinished copy. */
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
 * @throws {StoreFileError} another program wrote the database, or another version of this one
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
  if (version === 0 || version === SCHEMA_VERSION) return version;
  const age = version > SCHEMA_VERSION ? 'newer' : 'older';
  const other = `${age} than ${SCHEMA_VERSION}, the one of this program`;
  throw new StoreFileError(
    file,
    `has schema version ${version}, ${other}: use the program that wrote it`,
  );
}

/** @throws {StoreFileError} the database has no schema yet */
export function requireSchema(database: DatabaseSync, file: string): void {
  if (schemaVersion(database, file) === SCHEMA_VERSION) return;
  throw new StoreFileError(file, 'is a store that a crash left without tables: start the service');
}

/** Creates the schema, if there is none yet, in one transaction. Close the database if it throws. */
export function createSchema(database: DatabaseSync, file: string): void {
  if (schemaVersion(database, file) === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  // Read again under the lock: another process may have been faster.
  if (schemaVersion(database, file) === 0)
    database.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}`);
  database.exec('COMMIT');
}
