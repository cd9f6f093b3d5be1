import { UnavailableError } from '../../domain/errors.js';
import { fileErrorMessage } from '../file-system.js';
import { isBusy, isDamaged } from './sqlite-errors.js';

export const OTHER_FILE = 'name another file for the store';
export const RESTORE = `restore a backup, or ${OTHER_FILE}`;

/** The file cannot be a store and was not changed. The message is one line: the file, what is wrong, what to do. */
export class StoreFileError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'StoreFileError';
  /** Absolute path. */
  readonly file: string;

  /**
   * Whether only a person can mend it. An error of SQLite or the file system may pass by itself, as when a disk is full,
   * unless the file is damaged or no database.
   */
  get isLasting(): boolean {
    return this.cause === undefined || isDamaged(this.cause);
  }

  /** @param problem what is wrong and what to do, as in "is empty: name the file of a store" */
  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`${file} ${problem.replaceAll(/\s+/g, ' ')}.`, options);
    this.file = file;
  }
}

/** Whether SQLite, the file system or the permission model of Node.js reported the error. */
const isOfSystem = (error: Error): boolean =>
  ['errcode', 'syscall', 'permission'].some((property) => property in error);

/**
 * Makes an error of SQLite, the file system or Node.js one of this file; `problem` gets its message. Returns others as
 * they are, such as a lock that another process keeps. `retryWhileBusy` wraps SQLite's errors, which are unwrapped here.
 */
export function storeFileError(
  file: string,
  error: unknown,
  problem: (reason: string) => string,
): unknown {
  const cause = error instanceof UnavailableError ? error.cause : error;
  if (!(cause instanceof Error) || !isOfSystem(cause) || isBusy(cause)) return error;
  return new StoreFileError(file, problem(fileErrorMessage(cause)), { cause });
}
