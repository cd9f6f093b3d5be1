import { assert } from './assert.js';
import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../src/domain/errors.js';

/** What `call` rejects with; it fails when the call resolves. */
export async function rejectionOf(call: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([call]);
  assert.ok(result.status === 'rejected', 'the call resolved, though it has to reject');
  return result.reason;
}

/** Holds a call to an error of the animal store with this code, whichever copy of the package it is from. */
export async function rejectsWithCode(call: Promise<unknown>, code: AnimalStoreErrorCode): Promise<Error> {
  const error = await rejectionOf(call);
  assert.ok(isAnimalStoreError(error), `${String(error)} is not an error of the animal store`);
  assert.equal(error.code, code);
  return error;
}

/** Holds calls to the reason of a signal that was aborted before they began. */
export async function rejectsWhenAborted(
  ...calls: readonly ((call: { signal: AbortSignal }) => Promise<unknown>)[]
): Promise<void> {
  for (const reason of [new Error('given up'), 'given up', undefined]) {
    const signal = AbortSignal.abort(reason);
    for (const call of calls) assert.equal(await rejectionOf(call({ signal })), signal.reason);
  }
}
