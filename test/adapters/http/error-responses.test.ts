import { expect } from 'chai';
import { errorResponse } from '../../../src/adapters/http/error-responses.js';

const bodyOf = ({ body }: { readonly body: string }): unknown => JSON.parse(body);

describe('errorResponse', () => {
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
        message: 'Internal error. Report request id r-1.',
        status: 500,
      });
    });
  }
});
