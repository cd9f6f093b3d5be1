import type { CallOptions } from '../../src/application/call-options.js';
import { isAnimalStoreError, type AnimalStoreErrorCode } from '../../src/domain/errors.js';
import assert from 'node:assert/strict';

/**
 * Resolves to what `call` rejects with; fails when the call resolves.
 * @param about which of several calls it is, for the message of a failure
 */
export async function rejectionOf(
  call: Promise<unknown>,
  about: unknown = 'a call',
): Promise<unknown> {
  const [result] = await Promise.allSettled([call]);
  if (result.status === 'rejected') return result.reason;
  assert.fail(`${String(about)}: it resolved, and must reject`);
}

/** Checks that a call rejects with an error of the animal store with this code, from any copy of the package. */
export async function checkRejectsWithCode(
  call: Promise<unknown>,
  code: AnimalStoreErrorCode,
  about?: unknown,
): Promise<Error> {
  return checkCode(await rejectionOf(call, about), code, about);
}

/** Checks that it is an error of the animal store with this code. */
export function checkCode(
  error: unknown,
  code: AnimalStoreErrorCode,
  about: unknown = 'a call',
): Error {
  const isExpected = isAnimalStoreError(error) && error.code === code;
  assert.ok(isExpected, `${String(about)}: it must reject with ${code}, not ${String(error)}`);
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

/** Checks that calls with an aborted signal reject with its reason. */
export async function checkRejectsWhenAborted(
  calls: (options: CallOptions) => readonly Promise<unknown>[],
  about: unknown = 'aborted',
): Promise<void> {
  const signal = AbortSignal.abort(new Error('given up'));
  const errors = await Promise.all(calls({ signal }).map((call) => rejectionOf(call, about)));
  for (const error of errors) assert.equal(error, signal.reason, String(about));
}
