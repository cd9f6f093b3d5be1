import { isAnimalStoreError } from '../../domain/errors.js';

/** Whether it is an `UnavailableError`: a driven port cannot work now, or the service is busy or stopping. */
export const isUnavailable = (error: unknown): error is Error =>
  isAnimalStoreError(error) && error.code === 'service_unavailable';

/** The message of an error and what its causes add to it, in one line. */
export function reasonOf(error: unknown): string {
  const { message = String(error), cause } = Object(error) as Partial<Error>;
  const line = message.replaceAll('\n', ' ');
  if (cause === undefined) return line;
  const reason = reasonOf(cause);
  return line.includes(reason) ? line : `${line} ${reason}`;
}
