import type { StoreFactory } from '../../application/ports/store.js';

/** Everything after `sqlite:` is the path of a file, taken literally. */
export const sqlitePath = (url: string): string => url.slice('sqlite:'.length);

/** Whether a path ends like the files that SQLite puts beside a store. Here, because this file loads no `node:sqlite`. */
export const isNameBesideStore = (path: string): boolean => /-(?:wal|shm|journal)$/.test(path);

/** What no path of a store has, but a URL that was taken over from a shell, a file of settings or another program. */
const NO_STORE_PATHS = [
  /^$|^:memory:$|^file:|\?\w+=[^/]*$/,
  /^~[^/]*\/|^\$/, // shells expand ~ only at the start of a word
  /^[\s"']|[\s"']$/, // also the CR of a Windows line
];

/** Whether a path is meant as the file of a store. */
function isStorePath(path: string): boolean {
  return !isNameBesideStore(path) && !NO_STORE_PATHS.some((pattern) => pattern.test(path));
}

const BEGINS_WITH_SLASHES =
  'must not begin with sqlite://: ' +
  'write sqlite:x.db for a file in the working directory, sqlite:/x.db for one in the root';

const NAMES_NO_STORE =
  'must name a file, such as sqlite:data/animal-store.db, ' +
  'without ~, $ or file: before it, blanks or quotes around it, ' +
  'or options, -wal, -shm or -journal at its end';

/** Opens stores at `sqlite:PATH`. Loads `node:sqlite` when the first one is opened. */
export const sqliteStoreFactory: StoreFactory = {
  scheme: 'sqlite',
  isShared: true,

  async check(url) {
    if (/^sqlite:\/\/(?!\/)/.test(url)) return BEGINS_WITH_SLASHES;
    return isStorePath(sqlitePath(url)) ? undefined : NAMES_NO_STORE;
  },

  async open(url, options) {
    const { openSqliteStore } = await import('./open-sqlite-store.js');
    return openSqliteStore(sqlitePath(url), options);
  },
};
