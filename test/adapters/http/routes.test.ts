import { expect } from 'chai';
import * as fc from 'fast-check';
import { petJson } from '../../../src/adapters/http/pet-json.js';
import { createRouteFinder, type Route } from '../../../src/adapters/http/routes.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_RULES, savedPet, type Pet } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import { parse, stringify } from '../../../src/exact-json.js';

const route = (path: string): Route => ({ path, endpoints: new Map(), open: true });

describe('createRouteFinder', () => {
  const find = createRouteFinder(['/v1/pets', '/v1/pets/{petId}'].map(route));

  for (const [path, petId] of [
    ['/v1/pets/%37', '7'],
    ['/v1/pets/%2531', '%31'],
    ['/v1/pets/%2F%ZZ', '%2F%ZZ'],
    ['/v1/pets/a\n', 'a\n'],
    ['/v1/pets/{petId}', '{petId}'],
  ] as const) {
    it(`decodes the id of ${JSON.stringify(path)} once`, () => {
      expect(find(path)).to.deep.equal({ route: route('/v1/pets/{petId}'), parameters: { petId } });
    });
  }
});

describe('An animal as JSON', () => {
  const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
  const name = fc
    .string({ unit: 'binary', minLength: 1 })
    .filter((text) => PET_RULES.name(text) === undefined);
  const pet: fc.Arbitrary<Pet> = fc
    .record({ id: int64, name, categoryId: int64, status: fc.constantFrom(...PET_STATUSES) })
    .map(({ id, ...rest }) => savedPet(id, rest));

  it('is what exact JSON writes and reads', () => {
    fc.assert(
      fc.property(pet, (any) => {
        expect(petJson(any)).to.equal(stringify(any));
        expect(parse(petJson(any))).to.deep.equal({ ...any });
      }),
    );
  });

  it('escapes each character that JSON requires, and no other', () => {
    const units = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
    const rest = { categoryId: -1n, status: 'sold' } as const;
    const wrong = [...units, 'a"\n\u{1F431}b'].filter((name) => {
      const expected = `{"id":1,"name":${JSON.stringify(name)},"categoryId":-1,"status":"sold"}`;
      return petJson({ id: 1n, name, ...rest }) !== expected;
    });
    expect(wrong).to.deep.equal([]);
  });
});
