import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { PetClaim } from '../../application/ports/catalogue-transfer.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { PetStatus } from '../../domain/pet-status.js';
import { OTHER_FILE, RESTORE, StoreFileError } from './store-file.js';

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

const insertInto = (table: string, columns: string): string =>
  `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`;

// The columns of an animal. A new field belongs in a new step of MIGRATIONS and in these declarations.

export const PET_COLUMNS = 'id, name, category_id, status';

/** SQLite assigns the id where it is null. */
export type PetRow<Id = bigint> = readonly [id: Id, name: string, categoryId: bigint, status: PetStatus];

export function petRow<Id>(id: Id, { name, categoryId, status }: UnsavedPet): PetRow<Id> {
  return [id, name, categoryId, status];
}

// `satisfies`: it does not compile while a field is missing, even an optional one.
export const toPet = ([id, name, categoryId, status]: PetRow): Pet =>
  savedPet(id, { name, categoryId, status } satisfies Record<keyof UnsavedPet, unknown>);

export const FIND_PET = `SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`;

export const INSERT_PET = insertInto('pets', PET_COLUMNS);

export const CLAIM_COLUMNS = 'scope, key, fingerprint, pet_id, keep_until';

export type ClaimRow = readonly [string, string, string, bigint, bigint];

export function claimRow({ scope, key, fingerprint, petId, keepUntil }: PetClaim): ClaimRow {
  return [scope, key, fingerprint, petId, BigInt(keepUntil.getTime())];
}

export function toClaim([scope, key, fingerprint, petId, keepUntil]: ClaimRow): PetClaim {
  return { scope, key, fingerprint, petId, keepUntil: new Date(Number(keepUntil)) };
}

/** Replaces the claim with the same scope and key. */
export const PUT_CLAIM = insertInto('claims', CLAIM_COLUMNS).replace('INSERT', 'INSERT OR REPLACE');

const readPragma = (database: DatabaseSync, name: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];

/**
 * Returns the version of the schema; 0 if there is none.
 * @throws {StoreFileError} a newer version of this program wrote the file
 */
function schemaVersion(database: DatabaseSync, file: string): number {
  const version = Number(readPragma(database, 'user_version'));
  const newest = SCHEMA_VERSION;
  if (version <= newest) return version;
  throw new StoreFileError(
    file,
    `has schema version ${version}, newer than ${newest}, the newest that this program knows: ` +
      `use the program that wrote it, or ${OTHER_FILE}`,
  );
}

function requireStore(database: DatabaseSync, file: string): void {
  if (readPragma(database, 'application_id') !== APPLICATION_ID) {
    throw new StoreFileError(file, `is the SQLite database of another program: ${OTHER_FILE}`);
  }
  schemaVersion(database, file);
}

/** Reads every page. @throws {StoreFileError} the pages contradict each other */
export function requireSound(database: DatabaseSync, file: string): void {
  const finding = readPragma(database, 'quick_check');
  if (finding !== 'ok') throw new StoreFileError(file, `is damaged (${String(finding)}): ${RESTORE}`);
}

/**
 * Opens the store in a file, and leaves the file as it is. With a log or a journal beside it, the connection is read-only:
 * one that may write would merge them into the file when it closes. Without one it is not: SQLite would leave an empty
 * log behind. In a folder that cannot be written SQLite cannot make a log: it reads the file as one that never changes.
 * @throws {StoreFileError} the database is not a store, or one of a newer version
 */
export function openUnchanged(file: string): DatabaseSync {
  const hasLog = [`${file}-wal`, `${file}-journal`].some(existsSync);
  const isFixed = !hasLog && !isWritable(dirname(file));
  // https://sqlite.org/uri.html#uriimmutable
  const immutable = new URL(`${pathToFileURL(file).href}?immutable=1`);
  const database = new DatabaseSync(isFixed ? immutable : file, { readOnly: hasLog || isFixed, timeout: 0 });
  try {
    database.exec('PRAGMA trusted_schema = OFF');
    requireStore(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws {StoreFileError} the schema is of an older version */
export function requireUpgraded(database: DatabaseSync, file: string): void {
  const version = schemaVersion(database, file);
  if (version === SCHEMA_VERSION) return;
  throw new StoreFileError(
    file,
    `has schema version ${version}, and reading does not upgrade it to ${SCHEMA_VERSION}: ` +
      'use the version of the program that wrote it, or back it up and start the service, which upgrades it',
  );
}

/** Creates the schema, or upgrades an older one after a notice, in one transaction. */
export function upgradeSchema(database: DatabaseSync, file: string, onNotice: (line: string) => void): void {
  const newest = SCHEMA_VERSION;
  if (schemaVersion(database, file) === newest) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Read again under the lock: another process may have been faster.
    const version = schemaVersion(database, file);
    if (version > 0 && version < newest) {
      const warning = 'older versions of the program cannot open it any more, only a backup leads back';
      onNotice(`upgrading ${file} from schema version ${version} to ${newest}: ${warning}`);
    }
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
