import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../src/domain/errors.js';
import type { Pet } from '../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { shown } from './shown.js';

/** Resolves to what `call` rejects with; fails when the call resolves. */
export async function rejectionOf(call: Promise<unknown>, about: unknown = ''): Promise<unknown> {
  const [result] = await Promise.allSettled([call]);
  if (result.status === 'rejected') return result.reason;
  assert.fail(`the call resolved to ${shown(result.value)}, and must reject${ofWhich(about)}`);
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
  return checkCode(await rejectionOf(call, about), code, about);
}

/** Checks that it is an error of the animal store with this code. */
export function checkCode(error: unknown, code: AnimalStoreErrorCode, about: unknown = ''): Error {
  const expected = `must be one of the animal store with the code ${code}${ofWhich(about)}`;
  assert.ok(isAnimalStoreError(error), `the error is ${shown(error)}, and ${expected}`);
  assert.equal(error.code, code, `the code is ${error.code}, and the error ${expected}`);
  return error;
}

/** What simultaneous calls resolved to, and what the others rejected with. */
export async function outcomesOf<Result>(
  calls: readonly Promise<Result>[],
): Promise<{ readonly values: readonly Result[]; readonly errors: readonly unknown[] }> {
  const values: Result[] = [];
  const errors: unknown[] = [];
  for (const result of await Promise.allSettled(calls)) {
    if (result.status === 'fulfilled') values.push(result.value);
    else errors.push(result.reason);
  }
  return { values, errors };
}

const ofWhich = (about: unknown): string => (about === '' ? '' : ` (${String(about)})`);

/** Checks that a call with an aborted signal rejects with the signal's reason, whatever that is. */
export async function rejectsWhenAborted(
  call: (call: { signal: AbortSignal }) => Promise<unknown>,
): Promise<void> {
  for (const reason of [new Error('given up'), 'given up', undefined]) {
    const signal = AbortSignal.abort(reason);
    const error = await rejectionOf(call({ signal }), `aborted with ${shown(reason)}`);
    assert.equal(error, signal.reason, 'the call did not reject with the reason of its signal');
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
  const { values, errors } = await outcomesOf(creating);

  const [pet, ...others] = await list();
  assert.ok(pet, 'no animal is stored after simultaneous creates with one key');
  assert.deepEqual(others, [], 'simultaneous creates with one key stored more than one animal');
  for (const error of errors) checkCode(error, 'idempotency_conflict');
  for (const value of values)
    assert.deepEqual(value.pet, pet, 'a create returned another animal than is stored');
  const creators = values.filter(({ replayed }) => !replayed).length;
  assert.ok(creators <= 1, `${creators} callers created the animal`);
  return pet;
}
