import { isAnimalStoreError } from '../../domain/errors.js';

/** Whether the store, or another driven side, cannot do its work now. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** Whether only a person can mend it. */
export const isLasting = (error: unknown): boolean =>
  Object(error).isLasting === true || Object(error).code === 'invalid_parameter';

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const { message = String(error), cause } = Object(error) as Partial<Error>;
  const line = message.replaceAll('\n', ' ');
  if (cause === undefined) return line;
  const reason = reasonOf(cause);
  return line.includes(reason) ? line : `${line} ${reason}`;
}
