/* Which paths can be the file of a store. Apart from opening one, because this file loads no `node:sqlite`. */

/** Whether a path ends like the files that SQLite puts beside a store. */
export const isNameBesideStore = (path: string): boolean => /-(?:wal|shm|journal)$/.test(path);

/** What no path of a store has, but a URL that was taken over from a shell, a file of settings or another program. */
const NO_STORE_PATHS = [
  /^$|^:memory:$|^file:|\?\w+=[^/]*$/,
  /^~[^/]*\/|^\$/, // shells expand ~ only at the start of a word
  /^[\s"']|[\s"']$/, // also the CR of a Windows line
];

/** Whether a path is meant as the file of a store. */
export function isStorePath(path: string): boolean {
  return !isNameBesideStore(path) && !NO_STORE_PATHS.some((pattern) => pattern.test(path));
}

/** What a path of a store lacks, for messages. */
export const CLEAN_PATH =
  'without ~, $ or file: before it, blanks or quotes around it, ' +
  'or options, -wal, -shm or -journal at its end';
