import { MongoBulkWriteError } from 'mongodb';
import { UndecidedError } from './mongo-error.js';

const DUPLICATE_KEY = 11_000;

/**
 * What stopped a bulk write. The driver wraps it, and so hides whether the same may go well when it is done again:
 * a server that does not retry by itself gives no label that says so.
 */
export function unwrapped(error: unknown): unknown {
  const wrapped: unknown = error instanceof MongoBulkWriteError ? error.errorResponse : undefined;
  return wrapped instanceof Error ? wrapped : error;
}

/**
 * Settles as an unordered bulk write of the driver: resolves to whether all was written, or only what had an `_id`
 * that was not taken, and the majority has both. Rejects with errors that tell what stopped it, see `unwrapped`.
 */
export async function wroteAll(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (caught) {
    const error = unwrapped(caught);
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const refused = error.result.getWriteErrors();
    if (refused.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    if (refused.length > 0 && error.result.getWriteConcernError() === undefined) return false;
    throw new UndecidedError('the majority does not have the batch yet', { cause: error });
  }
}
