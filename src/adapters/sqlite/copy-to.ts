import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { readPragma } from './read-pragma.js';

/** Copies a store to a new file on the disk, for this user alone. */
export function copyTo(copy: string, database: DatabaseSync): void {
  database.prepare('VACUUM INTO ?').run(copy);
  chmodSync(copy, 0o600);
  // VACUUM INTO of older versions of SQLite does not sync the file. A commit does: of the value that is there already.
  // Not `fsync`, which Node.js's permission model refuses.
  using copied = new DatabaseSync(copy);
  const version = Number(readPragma(copied, 'user_version'));
  copied.exec(`PRAGMA synchronous = EXTRA; PRAGMA user_version = ${version}`);
}
