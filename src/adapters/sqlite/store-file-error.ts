import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { UnavailableError } from '../../domain/errors.js';
import { hasCode, isBusy, isStoreFailure } from './sqlite-errors.js';

/** A file cannot be opened, copied or restored. The message is one line: the file, what is wrong, what to do. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
  /** False if a retry may succeed, as after a full disk. */
  readonly isPermanent: boolean;

  /** @param problem what is wrong and what to do, as in "does not exist: name the file of a store" */
  constructor(file: string, problem: string, cause?: unknown) {
    super(`${file} ${problem.replaceAll(/\s+/g, ' ')}.`, { cause });
    this.isPermanent = !cause || hasCode(cause, 'CORRUPT') || hasCode(cause, 'NOTADB');
  }
}

/**
 * Rejects with `StoreFileError` if SQLite or the operating system fails, with `UnavailableError` if another process
 * holds a lock.
 * @param problem what fails, as in "cannot be used"
 */
export async function withFileErrors<Result>(
  file: string,
  problem: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isBusy(error))
      throw new UnavailableError(`waiting for the lock of ${file}`, { cause: error });
    if (!isStoreFailure(error)) throw error;
    const reason = isDiskFull(error, file) ? 'the disk is full' : error.message;
    throw new StoreFileError(file, `${problem}: ${reason}`, error);
  }
}

/** Without this much space, in bytes, SQLite cannot make a new `-shm`, and reports IOERR, not FULL. */
const LEAST_SPACE = 64 * 1024;

function isDiskFull(cause: Error, file: string): boolean {
  if (hasCode(cause, 'FULL') || Object(cause).code === 'ENOSPC') return true;
  if (!hasCode(cause, 'IOERR')) return false;
  const { bavail, bsize } = fs.statfsSync(dirname(file));
  return bavail * bsize < LEAST_SPACE;
}
