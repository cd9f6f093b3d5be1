import { closeSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Brings the names in a folder to the disk. Returns `false` if Node.js's permission model forbids it: from 26 on. */
export async function syncFolder(path: string): Promise<boolean> {
  if (process.platform === 'win32') return true; // cannot sync folders
  const folder = await open(path); // up to 24 the permission model allows no other sync than a FileHandle's
  try {
    await folder.sync();
    return true;
  } catch (error) {
    if (Object(error).code === 'ERR_ACCESS_DENIED') return false;
    throw error;
  } finally {
    await folder.close();
  }
}

/**
 * Gives the finished file at `part` its name. Never replaces another file. Where hard links are not supported, as on FAT,
 * an empty file has the name for a moment. The name `part` may remain: the caller removes it.
 */
export function nameFinishedFile(part: string, file: string): void {
  try {
    linkSync(part, file);
  } catch {
    // Whatever the reason: this way refuses a file that exists, too. A rename alone would replace it.
    closeSync(openSync(file, 'wx', 0o600));
    try {
      renameSync(part, file);
    } catch (error) {
      rmSync(file);
      throw error;
    }
  }
}

/** The message of an error of the file system. If access was denied, it says to which user. */
export function fileErrorMessage(error: Error & { readonly code?: unknown }): string {
  if (error.code !== 'EACCES') return error.message;
  return `${error.message}, as the user ${process.getuid?.()}`;
}
