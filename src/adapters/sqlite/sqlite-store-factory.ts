import type { StoreFactory } from '../../application/ports/store.js';

/** Everything after `sqlite:` is the path of a file, taken literally. */
const sqlitePath = (url: string): string => url.slice('sqlite:'.length);

/** Opens stores at `sqlite:PATH`. Loads `node:sqlite` when the first one is opened. */
export const sqliteStoreFactory: StoreFactory = {
  scheme: 'sqlite',
  open: async (url, options) =>
    (await import('./open-sqlite-store.js')).openSqliteStore(sqlitePath(url), options),
};
