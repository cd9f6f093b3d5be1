import type { StoreFactory } from '../../application/ports/store.js';

/** The path in a `sqlite:` URL: everything after the scheme, taken literally. */
export const sqlitePath = (url: string): string => url.slice('sqlite:'.length);

/** Opens stores at `sqlite:PATH`. Loads `node:sqlite` when it opens the first one. */
export const sqliteStoreFactory: StoreFactory = {
  scheme: 'sqlite',
  open: async (url, options) =>
    (await import('./open-sqlite-store.js')).openSqliteStore(sqlitePath(url), options),
};
