import { throws } from 'node:assert/strict';
import { inspect } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  AnimalStoreError,
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  StatusConflictError,
  UnavailableError,
  isAnimalStoreError,
} from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN, parseInt64, toInt64 } from '../../src/domain/int64.js';
import { fingerprintOf, petChange, petFrom, unsavedPet } from '../../src/domain/pet.js';

const cause = new Error('the inside');
const faults = [
  { field: 'name', message: 'must be short' },
  { field: '', message: 'it must be an object' },
];

/** What a caller without a compiler, or an adapter, passes on. */
const untyped = (value: unknown): never => value as never;

describe('The errors of the animal store', () => {
  const errors: Record<string, AnimalStoreError> = {
    invalid_pet: new InvalidPetError(faults, { cause }),
    invalid_parameter: new InvalidParameterError(faults, { cause }),
    pet_not_found: new PetNotFoundError(5n, { cause }),
    idempotency_conflict: new IdempotencyConflictError({ cause, retryAfter: 5 }),
    idempotency_key_reused: new IdempotencyKeyReusedError({ cause }),
    status_conflict: new StatusConflictError('sold', { cause }),
    service_unavailable: new UnavailableError('reading an animal', { cause }),
  };

  for (const [code, error] of Object.entries(errors)) {
    it(`${code} has a name, a message of one sentence, and a cause that its JSON omits`, () => {
      expect(error).to.be.instanceOf(AnimalStoreError).and.include({ code, cause });
      expect(error.name).to.equal(error.constructor.name);
      expect(error.message).to.match(/^[A-Z].+\.$/);
      const json: unknown = JSON.parse(JSON.stringify(error));
      expect(json).to.include({ name: error.name, code, message: error.message });
      expect(json).not.to.have.any.keys('cause', 'stack');
    });

    it(`${code} is recognised if another copy of the package made it`, () => {
      expect(isAnimalStoreError({ code })).to.equal(true);
    });
  }

  it('name every fault in one sentence, and carry details', () => {
    expect(errors['invalid_pet']?.message).to.equal(
      'The animal is not valid: name must be short; it must be an object.',
    );
    expect(errors['pet_not_found']).to.include({ petId: '5' });
    expect(errors['status_conflict']).to.include({ status: 'sold' });
    expect(errors['idempotency_conflict']).to.include({ retryAfter: 5 });
    expect(errors['service_unavailable']).to.include({ retryAfter: 1 });
  });

  it('are recognised by a known code only', () => {
    for (const value of [new Error('x'), { code: 'ECONNRESET' }, { code: 'toString' }, null, 'x'])
      expect(isAnimalStoreError(value), inspect(value)).to.equal(false);
  });
});

describe('An int64', () => {
  it('is made of safe integers and bigints in range only', () => {
    expect([7, -0, INT64_MIN, INT64_MAX].map(toInt64)).to.deep.equal([
      7n,
      0n,
      INT64_MIN,
      INT64_MAX,
    ]);
    for (const value of [2 ** 53, 1.5, NaN, INT64_MAX + 1n, INT64_MIN - 1n, '7', true, null, [7]])
      expect(toInt64(value), inspect(value)).to.equal(undefined);
  });

  it('is read from its own text, and from no other spelling', () => {
    const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
    fc.assert(fc.property(int64, (value) => parseInt64(String(value)) === value));
    for (const text of ['', '007', '+5', '-0', '1e3', '0x1', '7 ', '٧', '9223372036854775808'])
      expect(parseInt64(text), text).to.equal(undefined);
  });
});

describe('An animal', () => {
  const rex = { name: 'Rex', categoryId: 7n, status: 'sold' } as const;

  it('is available unless it has a status, keeps its name exactly, and is frozen', () => {
    const pet = unsavedPet({ name: ' Ré\u0301x ', categoryId: 7 });

    expect(pet).to.deep.equal({ name: ' Ré\u0301x ', categoryId: 7n, status: 'available' });
    expect(pet).to.be.frozen;
  });

  const wrong: ReadonlyArray<readonly [value: unknown, fields: string]> = [
    [{}, 'name,categoryId'],
    [{ name: 5, categoryId: '7', status: 'gone' }, 'name,categoryId,status'],
    [{ ...rex, status: null }, 'status'],
    [{ ...rex, categoryId: 2 ** 53 }, 'categoryId'],
    [{ ...rex, categoryId: 2n ** 63n }, 'categoryId'],
    [{ ...rex, name: '\u2003\t' }, 'name'],
    [{ ...rex, name: 'a\0b' }, 'name'],
    [{ ...rex, name: '\ud800' }, 'name'],
    [{ ...rex, name: '😀'.repeat(1001) }, 'name'],
    [null, ''],
    ['Rex', ''],
  ];

  for (const [value, fields] of wrong)
    it(`is refused as ${inspect(value, { breakLength: Infinity }).slice(0, 50)}: ${fields || 'the whole'}`, () => {
      throws(
        () => unsavedPet(untyped(value)),
        (error) => {
          expect(error).to.be.instanceOf(InvalidPetError);
          const named = (error as InvalidPetError).faults.map(({ field }) => field);
          expect(named.join()).to.equal(fields);
          return true;
        },
      );
    });

  it('may have a name of 1,000 code points', () => {
    expect(unsavedPet({ ...rex, name: '😀'.repeat(1000) }).name).to.have.lengthOf(2000);
  });

  it('is changed by the fields that are given, at least one', () => {
    expect(petChange({ categoryId: 8, status: undefined })).to.deep.equal({ categoryId: 8n });
    for (const change of [{}, { name: undefined }, { name: '' }, { status: null }])
      throws(() => petChange(untyped(change)), { code: 'invalid_pet' });
  });

  it("is read from other programs' data, with numbers or bigints", () => {
    expect(petFrom({ id: 1, ...rex, categoryId: 7 })).to.deep.equal({ id: 1n, ...rex });
    for (const data of [rex, { id: 1n }, { id: 1n, ...rex, status: undefined }])
      throws(() => petFrom(data), { code: 'invalid_pet' });
  });

  it('has a fingerprint of its fields', () => {
    expect(fingerprintOf(rex)).to.equal('["Rex","7","sold"]');
  });
});
