import { expect } from 'chai';
import * as fc from 'fast-check';
import { isNewPet, newPetFaults } from '../../../src/adapters/http/schemas.js';
import { InvalidPetError, type Fault } from '../../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../../src/domain/int64.js';
import { PET_STATUSES } from '../../../src/domain/pet.js';
import { unsavedPet, type NewPet } from '../../../src/domain/pet.js';

/** What the domain says of a candidate: its faults, by field. */
function domainFaults(candidate: object): readonly Fault[] {
  try {
    unsavedPet(candidate as NewPet);
    return [];
  } catch (error) {
    if (error instanceof InvalidPetError) return error.faults;
    throw error;
  }
}

/** What may come out of a body, numbers that are int64 being bigints: good values and bad ones, both often. */
const json = fc.oneof(
  fc.jsonValue(),
  fc.bigInt({ min: INT64_MIN - 2n, max: INT64_MAX + 2n }),
  fc.constantFrom(INT64_MIN - 1n, INT64_MIN, 0n, INT64_MAX, INT64_MAX + 1n),
  fc.constantFrom(
    '',
    ' ',
    '\u00a0\u2003',
    '\u200b',
    '\ufeff',
    'a\0',
    '\ud800',
    'Bella',
    ...PET_STATUSES,
    'Sold',
  ),
  fc.constantFrom(1, 1.5, -0, 2 ** 53, Infinity, Number.NaN),
);
const candidate = fc.oneof(
  fc.record({ name: json, categoryId: json, status: json }, { requiredKeys: [] }),
  fc.record(
    {
      name: fc.constantFrom('Bella', 'a b', ' '),
      categoryId: fc.constantFrom(7n, 7, 1.5),
      status: fc.constantFrom('sold', 'pending', null),
      id: json,
    },
    { requiredKeys: ['name', 'categoryId'] },
  ),
  fc.dictionary(fc.string(), json),
  fc.array(json),
);

const byField = (one: Fault, other: Fault): number => (one.field < other.field ? -1 : 1);

describe('The schema of NewPet', () => {
  it('takes what the domain takes, and nothing else', () => {
    let [taken, refused] = [0, 0];
    fc.assert(
      fc.property(candidate, (any) => {
        const good = domainFaults(any).length === 0;
        if (good) taken += 1;
        else refused += 1;
        expect(isNewPet(any)).to.equal(good);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(taken, refused), 'that both happened').to.be.greaterThan(0);
  });

  it('names the faults that the domain names, in its words', () => {
    fc.assert(
      fc.property(candidate, (any) => {
        if (Array.isArray(any) || isNewPet(any)) return;
        expect(newPetFaults(any).toSorted(byField)).to.deep.equal([...domainFaults(any)].sort(byField));
      }),
      { numRuns: 2_000 },
    );
  });

  it('names every fault, field by field', () => {
    expect(newPetFaults({ name: ' ', categoryId: 1.5, status: null })).to.deep.equal([
      { field: 'name', message: 'must not be blank' },
      { field: 'categoryId', message: 'must be an integer from -9223372036854775808 to 9223372036854775807' },
      { field: 'status', message: 'must be one of available, pending, sold' },
    ]);
    expect(newPetFaults({})).to.deep.equal([
      { field: 'name', message: 'is required' },
      { field: 'categoryId', message: 'is required' },
    ]);
  });

  it('takes members that the interface does not name, whatever they hold', () => {
    expect(isNewPet({ name: 'Bella', categoryId: 1n, id: 'x', toString: null })).to.equal(true);
    expect(isNewPet(JSON.parse('{"name":"Bella","categoryId":1,"__proto__":{"status":"x"}}'))).to.equal(true);
  });
});
