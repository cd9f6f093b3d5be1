import { isAnimalStoreError } from '../../domain/errors.js';

/** Whether a driven side, such as the store, cannot do its work now. */
export function isUnavailable(error: unknown): error is Error {
  return isAnimalStoreError(error) && error.code === 'service_unavailable';
}

/** Whether the operating system has refused something. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Whether only a person can mend it. */
export function isLasting(error: unknown): boolean {
  return error instanceof Error && 'isLasting' in error && error.isLasting === true;
}

/** The store is the target of a copy that has not finished. */
export function unfinishedCopy(location: string): Error {
  return new Error(
    `The store ${location} is a copy that has not finished: copy again, to a new store.`,
  );
}

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return inOneLine(String(error));
  const message = inOneLine(error.message);
  if (error.cause === undefined) return message;
  const cause = reasonOf(error.cause);
  return message.includes(cause) ? message : `${message} ${cause}`;
}

function inOneLine(text: string): string {
  return text.replaceAll('\n', ' ');
}
