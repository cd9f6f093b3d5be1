import { MongoBulkWriteError } from 'mongodb';
import { UndecidedError } from './mongo-error.js';

const DUPLICATE_KEY = 11_000;

/**
 * Settles as an unordered bulk write of the driver: resolves to whether all was written, or only what had an `_id`
 * that was not taken, and the majority has both. Rejects with errors that tell what stopped it: the driver wraps
 * them, and hides whether the same may go well when it is done again.
 */
export async function wroteAll(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const wrapped: unknown = error.errorResponse;
    if (wrapped instanceof Error) throw wrapped;
    const refused = error.result.getWriteErrors();
    if (refused.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    if (refused.length > 0 && error.result.getWriteConcernError() === undefined) return false;
    throw new UndecidedError('the majority does not have the batch yet', { cause: error });
  }
}
