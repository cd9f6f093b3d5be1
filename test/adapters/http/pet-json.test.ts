import { expect } from 'chai';
import * as fc from 'fast-check';
import { petJson } from '../../../src/adapters/http/operations.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { petWithId } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { parseJson, stringifyJson } from '../../../src/json.js';

describe('An animal as JSON', () => {
  const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
  const name = fc.string({ minLength: 1 });
  const status = fc.constantFrom(...PET_STATUSES);

  it('is what exact JSON writes and reads', () => {
    fc.assert(
      fc.property(int64, fc.record({ name, categoryId: int64, status }), (id, fields) => {
        const pet = petWithId(id, fields);
        expect(petJson(pet)).to.equal(stringifyJson(pet));
        expect(parseJson(petJson(pet))).to.deep.equal({ ...pet });
      }),
    );
  });
});
