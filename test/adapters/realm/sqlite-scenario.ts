import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore, StoreFileError } from '../../../src/adapters/sqlite/index.js';
import { isAnimalStoreError } from '../../../src/domain/errors.js';
import { rejectionOf, rejectsWithCode } from '../../contract/rejection.js';

const folder = String(process.argv[3]);
const rex = { name: 'Rex', categoryId: 7n, status: 'available' } as const;

const file = join(folder, 'animals.db');
const { pets, close } = await openSqliteStore(file);
const other = new DatabaseSync(file);
assert.ok(!(rejectedByNode() instanceof Error), 'this must run in a realm of its own');

other.exec('BEGIN IMMEDIATE');
const added = pets.add(rex);
await delay(20);
other.exec('ROLLBACK');
assert.equal((await added).id, 1n, 'an add must wait for the lock of another connection');

other.exec('ALTER TABLE pets RENAME TO animals');
const error = await rejectsWithCode(pets.add(rex), 'service_unavailable', 'without its table');
assert.match(String(error.cause), /no such table/);
await rejectsWithCode(pets.list({ limit: 5 }), 'service_unavailable', 'without its table');
other.close();
await close();

const text = join(folder, 'letter.txt');
writeFileSync(text, 'Dear Rex, '.repeat(1000));
for (const path of [text, join(text, 'animals.db'), folder]) {
  const refused = await rejectionOf(openSqliteStore(path), path);
  assert.ok(refused instanceof StoreFileError, `${path} gave ${String(refused)}`);
}
assert.ok(!isAnimalStoreError(rejectedByNode()));

/** An error of Node.js, whose class is not the `Error` of this realm. */
function rejectedByNode(): unknown {
  try {
    return new DatabaseSync(join(folder, 'no', 'folder'));
  } catch (error_) {
    return error_;
  }
}
