import { expect } from 'chai';
import {
  ERROR_STATUS,
  HttpError,
  errorResponse,
  type HttpErrorCode,
} from '../../../src/adapters/http/error-responses.js';
import {
  ANIMAL_STORE_ERROR_CODES,
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidCursorError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  UnavailableError,
  type AnyAnimalStoreError,
} from '../../../src/domain/errors.js';

const CAUSE = { cause: new Error('hunter2 at db-7.internal') };

const DOMAIN_ERRORS: readonly AnyAnimalStoreError[] = [
  new InvalidPetError([{ field: 'name', message: 'is required' }], CAUSE),
  new InvalidParameterError([{ field: 'limit', message: 'must be given once' }], CAUSE),
  new InvalidCursorError(CAUSE),
  new PetNotFoundError(7n, CAUSE),
  new IdempotencyConflictError(CAUSE),
  new IdempotencyKeyReusedError(CAUSE),
  new UnavailableError('reading an animal from db-7.internal', CAUSE),
];

const retryAfter = (error: Error): unknown => errorResponse(error, 'r-1').headers['Retry-After'];

const bodyOf = ({ body }: { readonly body: string }): unknown => JSON.parse(body);

describe('errorResponse', () => {
  it('has a case here for every code of the domain', () => {
    expect(DOMAIN_ERRORS.map(({ code }) => code)).to.have.members([...ANIMAL_STORE_ERROR_CODES]);
  });

  for (const error of DOMAIN_ERRORS) {
    it(`gives ${error.code} its status in the Error shape, uncached, without its cause`, () => {
      const response = errorResponse(error, 'r-1');
      const status = ERROR_STATUS[error.code];
      expect(response).to.include({ status, code: error.code });
      expect(response.headers).to.include({
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
      });
      const { message } = bodyOf(response) as { message: string };
      expect(bodyOf(response)).to.deep.equal({ code: error.code, message, status });
      expect(message).to.match(/\.$/);
      expect(JSON.stringify(response)).to.not.match(/hunter2|db-7/);
    });
  }

  it('gives an error of HTTP its own message and headers', () => {
    for (const [code, status] of Object.entries(ERROR_STATUS)) {
      const error = new HttpError(code as HttpErrorCode, 'Do better.', { Allow: 'GET' });
      const response = errorResponse(error, 'r-1');
      expect(bodyOf(response)).to.deep.equal({ code, message: 'Do better.', status });
      expect(response.headers).to.include({ Allow: 'GET', 'Cache-Control': 'no-store' });
    }
  });

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
