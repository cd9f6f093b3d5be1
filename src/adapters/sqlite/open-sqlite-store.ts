import type { CompleteStore, OpenOptions } from '../../application/ports/store.js';
import { openModeOf } from '../../application/store-rules.js';
import { resolve } from 'node:path';
import { inPlaceCheck, requireOwnLog } from './file-identity.js';
import { openSnapshot, openToWrite } from './open-database.js';
import { retryWhileBusy } from './retry-while-busy.js';
import { sqliteApiKeys } from './sqlite-api-keys.js';
import { sqliteConnection } from './sqlite-connection.js';
import { sqlitePetChanges } from './sqlite-pet-changes.js';
import { sqlitePets } from './sqlite-pets.js';
import { sqliteTransfer } from './sqlite-transfer.js';
import { createFile, filePath } from './store-file.js';
import { withFileErrors } from './store-file-error.js';

/** How long commits trust a check of the file, in milliseconds. */
const CHECK_MAX_AGE = 1000;

/**
 * Opens the store in the file at `path`. Mode `create` creates a missing file, with its folders, for the user of this
 * process alone. Any number of processes may have the same file open. `location` is its absolute path.
 * @throws {TypeError} the mode does not exist, or `path` is not a string.
 * @throws {StoreFileError} the file cannot be opened, or is not a store of this program. The file was not changed.
 * @throws {UnavailableError} another process kept the file locked for five seconds.
 */
export async function openSqliteStore(
  path: string,
  options: OpenOptions = {},
): Promise<CompleteStore> {
  const mode = openModeOf(options);
  return withFileErrors(path, 'cannot be used', async () => {
    const file = filePath(path);
    requireOwnLog(file);
    if (mode === 'create') createFile(file);
    // Before opening, so that a swap meanwhile shows; by `path`, so that a link pointed elsewhere shows, too.
    const requireInPlace = inPlaceCheck(resolve(path));
    const database = await retryWhileBusy(undefined, () =>
      mode === 'read' ? openSnapshot(file) : openToWrite(file, mode === 'create'),
    );
    const connection = sqliteConnection(database, mode, () => requireInPlace(CHECK_MAX_AGE));
    return {
      pets: sqlitePets(connection),
      changes: sqlitePetChanges(connection),
      apiKeys: sqliteApiKeys(connection),
      transfer: sqliteTransfer(connection),
      location: file,
      check: (callOptions) =>
        connection.read('checking the store', callOptions, () => {
          requireInPlace(0);
          database.exec('SELECT id FROM pets LIMIT 1');
        }),
      close: connection.close,
      [Symbol.asyncDispose]: connection.close,
    };
  });
}
