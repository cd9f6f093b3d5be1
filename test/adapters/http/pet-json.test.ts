import { expect } from 'chai';
import * as fc from 'fast-check';
import { petJson, petsJson } from '../../../src/adapters/http/answer/pet-json.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_STATUSES } from '../../../src/domain/pet.js';
import { nameFault, savedPet, type Pet } from '../../../src/domain/pet.js';
import { parse, stringify } from '../../../src/exact-json.js';

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const name = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => nameFault(text) === undefined);
const pet: fc.Arbitrary<Pet> = fc
  .record({ id: int64, name, categoryId: int64, status: fc.constantFrom(...PET_STATUSES) })
  .map(({ id, ...rest }) => savedPet(id, rest));

describe('petJson', () => {
  it('writes what exact stringify writes, for every animal', () => {
    fc.assert(fc.property(pet, (any) => void expect(petJson(any)).to.equal(stringify(any))));
  });

  it('can be read back to the digit', () => {
    fc.assert(fc.property(pet, (any) => void expect(parse(petJson(any))).to.deep.equal({ ...any })));
  });

  it('escapes what JSON asks to, and keeps the rest', () => {
    const odd = savedPet(1n, { name: 'a"\\\n\u0001\u2028é😀</script>', categoryId: -1n, status: 'sold' });
    expect(petJson(odd)).to.equal(
      '{"id":1,"name":"a\\"\\\\\\n\\u0001\u2028é😀</script>","categoryId":-1,"status":"sold"}',
    );
  });
});

describe('petsJson', () => {
  it('writes what exact stringify writes, for every page', () => {
    fc.assert(fc.property(fc.array(pet), (any) => void expect(petsJson(any)).to.equal(stringify(any))));
  });

  it('writes a page of none, one and two', () => {
    const one = savedPet(1n, { name: 'a', categoryId: 1n, status: 'sold' });
    const text = petJson(one);
    expect([[], [one], [one, one]].map(petsJson)).to.deep.equal(['[]', `[${text}]`, `[${text},${text}]`]);
  });
});
