import type { StoreFactory } from '../../application/ports/store.js';
import { CLEAN_PATH, isStorePath } from './store-path.js';

/** Everything after `sqlite:` is the path of a file, taken literally. */
export const sqlitePath = (url: string): string => url.slice('sqlite:'.length);

const BEGINS_WITH_SLASHES =
  'must not begin with sqlite://: ' +
  'write sqlite:x.db for a file in the working directory, sqlite:/x.db for one in the root';

const NAMES_NO_STORE = `must name a file, such as sqlite:data/animal-store.db, ${CLEAN_PATH}`;

/** Opens stores at `sqlite:PATH`. Loads `node:sqlite` when the first one is opened. */
export const sqliteStoreFactory: StoreFactory = {
  scheme: 'sqlite',

  async check(url) {
    if (/^sqlite:\/\/(?!\/)/.test(url)) return BEGINS_WITH_SLASHES;
    return isStorePath(sqlitePath(url)) ? undefined : NAMES_NO_STORE;
  },

  async open(url, options) {
    const { openSqliteStore } = await import('./open-sqlite-store.js');
    return openSqliteStore(sqlitePath(url), options);
  },
};
