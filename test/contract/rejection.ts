import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../src/domain/errors.js';
import type { Pet } from '../../src/domain/pet.js';
import assert from 'node:assert/strict';

/** Resolves to what `call` rejects with; fails when the call resolves. */
export async function rejectionOf(call: Promise<unknown>, about: unknown = ''): Promise<unknown> {
  const [result] = await Promise.allSettled([call]);
  assert.ok(result.status === 'rejected', `the call resolved, and must reject ${String(about)}`);
  return result.reason;
}

/**
 * Checks that a call rejects with an error of the animal store with this code, from any copy of the package.
 * @param about which of several calls it is, for the message of a failure
 */
export async function rejectsWithCode(
  call: Promise<unknown>,
  code: AnimalStoreErrorCode,
  about: unknown = '',
): Promise<Error> {
  const error = await rejectionOf(call, about);
  assert.ok(isAnimalStoreError(error), `${String(error)} is not an error of the animal store`);
  assert.equal(error.code, code, `the code is ${error.code}, and must be ${code} ${String(about)}`);
  return error;
}

/** Checks that a call with an aborted signal rejects with the signal's reason, whatever that is. */
export async function rejectsWhenAborted(
  call: (call: { signal: AbortSignal }) => Promise<unknown>,
): Promise<void> {
  for (const reason of [new Error('given up'), 'given up', undefined]) {
    const signal = AbortSignal.abort(reason);
    assert.equal(await rejectionOf(call({ signal })), signal.reason);
  }
}

/**
 * Checks simultaneous creates with one claim: there is one animal, at most one caller created it, and the others may be
 * refused. Resolves to the animal.
 */
export async function checkOnce(
  creating: readonly Promise<{ readonly pet: Pet; readonly replayed: boolean }>[],
  list: () => Promise<readonly Pet[]>,
): Promise<Pet> {
  const results = await Promise.allSettled(creating);
  const [pet, ...others] = await list();
  assert.ok(pet);
  assert.deepEqual(others, []);
  let creators = 0;
  for (const result of results) {
    if (result.status === 'rejected') {
      await rejectsWithCode(Promise.reject(result.reason), 'idempotency_conflict');
    } else {
      assert.deepEqual(result.value.pet, pet);
      if (!result.value.replayed) creators += 1;
    }
  }
  assert.ok(creators <= 1, `${creators} callers created the animal`);
  return pet;
}
