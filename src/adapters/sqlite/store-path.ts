/* Which paths can be the file of a store. Apart from opening one, because this file loads no `node:sqlite`. */

/** Whether a path ends like the files that SQLite puts beside a store. */
export const isNameBesideStore = (path: string): boolean => /-(?:wal|shm|journal)$/.test(path);

/** Shells expand ~ only at the start of a word. */
const NO_STORE_PATH = /^$|^:memory:$|^file:|^~[^/]*\//;

/** As in a URL from a shell, a file of settings or another program: options, a variable, quotes, the CR of a line. */
const UNCLEAN = /\?\w+=[^/]*$|^\$|^[\s"']|[\s"']$/;

/** Whether a path is meant as the file of a store. */
export function isStorePath(path: string): boolean {
  if (NO_STORE_PATH.test(path) || isNameBesideStore(path)) return false;
  return !UNCLEAN.test(path);
}

/** What a path of a store lacks, for messages. */
export const CLEAN_PATH =
  'without ~, $ or file: before it, blanks or quotes around it, ' +
  'or options, -wal, -shm or -journal at its end';
