import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { UnavailableError } from '../../domain/errors.js';
import { hasCode, isOfTechnology } from './sqlite-errors.js';

/** The file cannot be a store, and was not changed. The message is one line: the file, what is wrong, what to do. */
export class StoreFileError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'StoreFileError';
  /** Whether only a person can mend it. Other causes, such as a full disk, may pass. */
  readonly isLasting: boolean;

  /** @param problem what is wrong and what to do, as in "does not exist: name the file of a store" */
  constructor(file: string, problem: string, cause?: unknown) {
    super(`${file} ${problem.replaceAll(/\s+/g, ' ')}.`, { cause });
    this.isLasting = !cause || hasCode(cause, 'CORRUPT') || hasCode(cause, 'NOTADB');
  }
}

/**
 * Opens or copies a store. Errors of SQLite and the file system become a `StoreFileError`, but for the lock of another
 * process, which stays an `UnavailableError`.
 * @param problem what fails, as in "cannot be used"
 */
export async function usingFile<Result>(
  file: string,
  problem: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof UnavailableError ? error.cause : error;
    if (!isOfTechnology(cause) || hasCode(cause, 'BUSY')) throw error;
    const reason = isDiskFull(cause, file) ? 'the disk is full' : cause.message;
    throw new StoreFileError(file, `${problem}: ${reason}`, cause);
  }
}

/** In bytes: what a new `-shm` needs, and as much again. */
const LEAST_SPACE = 64 * 1024;

function isDiskFull(cause: Error, file: string): boolean {
  if (hasCode(cause, 'FULL') || Object(cause).code === 'ENOSPC') return true;
  if (!hasCode(cause, 'IOERR')) return false;
  // SQLite reports it where a new `-shm` finds no space.
  const { bavail, bsize } = fs.statfsSync(dirname(file));
  return bavail * bsize < LEAST_SPACE;
}
