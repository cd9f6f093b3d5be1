import { openSqliteConnection } from './open-sqlite-connection.js';
import { SqliteApiKeyRepository } from './sqlite-api-key-repository.js';
import { SqliteCatalogueTransfer } from './sqlite-catalogue-transfer.js';
import { SqlitePetRepository } from './sqlite-pet-repository.js';

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** The store is there already: none is made. */
  readonly mustExist?: boolean | undefined;
  /** How long a call without a signal waits for another process's lock, in milliseconds: 5,000 when left out. */
  readonly busyTimeout?: number | undefined;
}

/** An animal store in one SQLite file. Its adapters share one connection. */
export interface SqliteStore {
  /** Absolute path of the file, without symbolic links. */
  readonly file: string;
  /** The animals; each add is on the disk when it resolves. */
  readonly pets: SqlitePetRepository;
  /** The managed API keys, as hashes. */
  readonly apiKeys: SqliteApiKeyRepository;
  /** All of the store, to be moved. Opened when it is first asked for. */
  readonly transfer: SqliteCatalogueTransfer;
  /** Closes all that was opened. The connection ends with the last of them, however each was closed. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the store in the file at `path`, relative to the working directory. Where there is none it is made,
 * with the folders it is in, unless `mustExist`. Any number of processes may have the same file open, but within a process only
 * one thread. Files ending in `-wal` and `-shm` stand beside it while it is open.
 * @throws {StoreFileError} the file cannot be a store of this program; it is left as it was.
 * @throws {UnavailableError} another process kept it locked for longer than `busyTimeout`.
 */
export async function openSqliteStore(
  path: string,
  { busyTimeout, mustExist }: SqliteStoreOptions = {},
): Promise<SqliteStore> {
  const connection = await openSqliteConnection(path, { busyTimeout, mustExist });
  const pets = new SqlitePetRepository(connection);
  const apiKeys = new SqliteApiKeyRepository(connection);
  let transfer: SqliteCatalogueTransfer | undefined;
  return Object.freeze({
    file: connection.file,
    pets,
    apiKeys,
    get transfer() {
      return (transfer ??= new SqliteCatalogueTransfer(connection));
    },
    close: async () => {
      await Promise.all([pets.close(), apiKeys.close(), transfer?.close()]);
    },
  });
}
