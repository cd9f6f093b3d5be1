import { statSync, type BigIntStats } from 'node:fs';

/** SQLite's files beside its database: the write-ahead log, the index to it, the rollback journal. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const;

/** What the file system says of a path; `undefined` when nothing is there. */
export const statOf = (path: string): BigIntStats | undefined =>
  statSync(path, { bigint: true, throwIfNoEntry: false });

/** Tells one file from every other, also from one that took its place: its device and inode. */
export function fileIdentity(path: string): string | undefined {
  const stats = statOf(path);
  return stats && `${stats.dev}:${stats.ino}`;
}
