import { expect } from 'chai';
import { UnavailableError } from '../../src/domain/errors.js';
import { rejectionOf } from '../contract/rejection.js';

/** Checks that a call rejects because the store is not available. Resolves to the cause, if it has one. */
export async function unavailable(call: Promise<unknown>): Promise<Error> {
  const error = await rejectionOf(call);
  expect(error).to.be.instanceOf(UnavailableError);
  return (error as { cause: Error }).cause;
}
