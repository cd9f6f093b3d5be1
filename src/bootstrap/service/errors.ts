import { isAnimalStoreError } from '../../domain/errors.js';

/** Whether the store, or another driven side, cannot do its work now. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** Whether a retry cannot succeed: wrong settings, wrong usage, a store that can never be used. */
export const isPermanent = (error: unknown): boolean =>
  Object(error).isPermanent === true || Object(error).code === 'invalid_parameter';

/** Whether an error is this one, or was caused by it. */
export function isCausedBy(error: unknown, reason: unknown): boolean {
  const { cause } = Object(error) as Partial<Error>;
  return error === reason || (cause !== undefined && isCausedBy(cause, reason));
}

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const { message = String(error), cause } = Object(error) as Partial<Error>;
  const line = message.replaceAll('\n', ' ');
  if (cause === undefined) return line;
  const reason = reasonOf(cause);
  return line.includes(reason) ? line : `${line} ${reason}`;
}
