import { expect } from 'chai';
import { ERROR_STATUS, errorAnswer } from '../../../src/adapters/http/answer/error-answers.js';
import { HttpError, type HttpErrorCode } from '../../../src/adapters/http/http-error.js';
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

/** One error of each code of the domain. */
const DOMAIN_ERRORS: ReadonlyArray<readonly [error: AnyAnimalStoreError, status: number]> = [
  [new InvalidPetError([{ field: 'name', message: 'is required' }], CAUSE), 400],
  [new InvalidParameterError([{ field: 'limit', message: 'must be given once' }], CAUSE), 400],
  [new InvalidCursorError(CAUSE), 400],
  [new PetNotFoundError(7n, CAUSE), 404],
  [new IdempotencyConflictError(CAUSE), 409],
  [new IdempotencyKeyReusedError(CAUSE), 422],
  [new UnavailableError('reading an animal from db-7.internal', CAUSE), 503],
];

const bodyOf = ({ body }: { readonly body: string }): Record<string, unknown> => JSON.parse(body);

const retryAfter = (error: Error): string | undefined => errorAnswer(error, 'r-1').headers['Retry-After'];

describe('The table of error answers', () => {
  it('has a status for every code of the domain and of HTTP, and for no other', () => {
    expect(ERROR_STATUS).to.deep.equal({
      invalid_pet: 400,
      invalid_parameter: 400,
      invalid_cursor: 400,
      pet_not_found: 404,
      idempotency_conflict: 409,
      idempotency_key_reused: 422,
      service_unavailable: 503,
      malformed_request: 400,
      malformed_json: 400,
      missing_body: 400,
      missing_api_key: 401,
      invalid_api_key: 401,
      insufficient_scope: 403,
      route_not_found: 404,
      method_not_allowed: 405,
      operation_removed: 410,
      payload_too_large: 413,
      unsupported_media_type: 415,
      expectation_failed: 417,
      headers_too_large: 431,
      request_timeout: 408,
      rate_limited: 429,
      internal_error: 500,
    });
    expect(DOMAIN_ERRORS.map(([{ code }]) => code)).to.have.members([...ANIMAL_STORE_ERROR_CODES]);
  });
});

describe('errorAnswer', () => {
  for (const [error, status] of DOMAIN_ERRORS) {
    it(`answers ${error.code} with ${status} in the Error shape, never to be kept`, () => {
      const answer = errorAnswer(error, 'r-1');
      expect(answer).to.include({ status, code: error.code });
      expect(answer.headers).to.include({
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
      });
      const { message, ...rest } = bodyOf(answer);
      expect(rest).to.deep.equal({ code: error.code, status });
      expect(message).to.be.a('string').and.not.equal('');
    });

    it(`tells nothing of what caused ${error.code}`, () => {
      expect(JSON.stringify(errorAnswer(error, 'r-1'))).to.not.match(/hunter2|db-7/);
    });
  }

  it('answers an error of HTTP with its own message and headers', () => {
    for (const code of Object.keys(ERROR_STATUS) as HttpErrorCode[]) {
      const answer = errorAnswer(new HttpError(code, 'Do better.', { Allow: 'GET' }), 'r-1');
      expect(bodyOf(answer)).to.deep.equal({ code, message: 'Do better.', status: ERROR_STATUS[code] });
      expect(answer.status).to.equal(ERROR_STATUS[code]);
      expect(answer.headers).to.include({ Allow: 'GET', 'Cache-Control': 'no-store' });
    }
  });

  it('knows an error of another copy of the package by its code', () => {
    const error = Object.assign(new Error('No animal has this identifier.'), { code: 'pet_not_found' });
    expect(errorAnswer(error, 'r-1')).to.include({ status: 404, code: 'pet_not_found' });
  });

  describe('tells nothing of what nobody expected but the request id:', () => {
    const UNEXPECTED: ReadonlyArray<readonly [title: string, thrown: unknown]> = [
      ['an error', new Error('hunter2')],
      ['a fault of the program', new TypeError('hunter2 is not a function')],
      ['an error of the system', Object.assign(new Error('hunter2'), { code: 'EACCES' })],
      ['a string', 'hunter2'],
      ['an object with a code', { code: 'pet_not_found', message: 'hunter2' }],
      ['nothing', undefined],
    ];
    for (const [title, thrown] of UNEXPECTED) {
      it(title, () => {
        const answer = errorAnswer(thrown, 'r-1');
        expect(answer).to.include({ status: 500, code: 'internal_error' });
        expect(bodyOf(answer)).to.deep.equal({
          code: 'internal_error',
          message: 'An unexpected fault. Tell the operator the request id r-1.',
          status: 500,
        });
      });
    }
  });

  it('says when to ask again', () => {
    expect(retryAfter(new UnavailableError('x'))).to.equal('1');
    expect(retryAfter(new UnavailableError('x', { retryAfter: 30 }))).to.equal('30');
    expect(retryAfter(new IdempotencyConflictError({ retryAfter: 2 }))).to.equal('2');
    expect(retryAfter(new PetNotFoundError(1n))).to.equal(undefined);
  });
});
