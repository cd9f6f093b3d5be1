import { expect } from 'chai';
import { errorResponse } from '../../../src/adapters/http/error-responses.js';
import {
  IdempotencyConflictError,
  InvalidPetError,
  PetNotFoundError,
  UnavailableError,
} from '../../../src/domain/errors.js';

const CAUSE = { cause: new Error('hunter2 at db-7.internal') };

const retryAfter = (error: Error): unknown => errorResponse(error, 'r-1').headers['Retry-After'];

const bodyOf = ({ body }: { readonly body: string }): unknown => JSON.parse(body);

describe('errorResponse', () => {
  for (const error of [
    new InvalidPetError([{ field: 'name', message: 'is required' }], CAUSE),
    new UnavailableError('reading an animal from db-7.internal', CAUSE),
  ]) {
    it(`keeps the cause of ${error.code} to itself`, () => {
      const response = errorResponse(error, 'r-1');
      expect(response.code).to.equal(error.code);
      expect(JSON.stringify(response)).to.not.match(/hunter2|db-7/);
    });
  }

  it('recognizes an error of another copy of the package by its code', () => {
    const error = Object.assign(new Error('No animal has this identifier.'), { code: 'pet_not_found' });
    expect(errorResponse(error, 'r-1')).to.include({ status: 404, code: 'pet_not_found' });
  });

  for (const [what, thrown] of [
    ['an error', new Error('hunter2')],
    ['an error of the system', Object.assign(new Error('hunter2'), { code: 'EACCES' })],
    ['a string', 'hunter2'],
    ['an object with a code', { code: 'pet_not_found', message: 'hunter2' }],
    ['undefined', undefined],
  ] as const) {
    it(`reveals only the request id of ${what} that nobody expected`, () => {
      expect(bodyOf(errorResponse(thrown, 'r-1'))).to.deep.equal({
        code: 'internal_error',
        message: 'An unexpected fault. Tell the operator the request id r-1.',
        status: 500,
      });
    });
  }

  it('says when to retry', () => {
    expect(retryAfter(new UnavailableError('x'))).to.equal('1');
    expect(retryAfter(new UnavailableError('x', { retryAfter: 30 }))).to.equal('30');
    expect(retryAfter(new IdempotencyConflictError({ retryAfter: 2 }))).to.equal('2');
    expect(retryAfter(new PetNotFoundError(1n))).to.equal(undefined);
  });
});
