import { expect } from 'chai';
import {
  ANIMAL_STORE_ERROR_CODES,
  AnimalStoreError,
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidCursorError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  UnavailableError,
  isAnimalStoreError,
} from '../../src/domain/errors.js';

const cause = new Error('the inside');
const faults = [
  { field: 'name', message: 'must not be blank' },
  { field: '', message: 'it must be an object' },
];

const EVERY_ERROR = [
  new InvalidPetError(faults, { cause }),
  new InvalidParameterError(faults, { cause }),
  new InvalidCursorError({ cause }),
  new PetNotFoundError(5n, { cause }),
  new IdempotencyConflictError({ cause }),
  new IdempotencyKeyReusedError({ cause }),
  new UnavailableError('reading an animal', { cause }),
];

describe('the errors of the animal store', () => {
  it('have one class for each code', () => {
    expect(EVERY_ERROR.map(({ code }) => code)).to.deep.equal([...ANIMAL_STORE_ERROR_CODES]);
  });

  it('are errors of one family, named by their class, and keep their cause', () => {
    for (const error of EVERY_ERROR) {
      expect(error).to.be.instanceOf(AnimalStoreError).and.instanceOf(Error);
      expect(error.name).to.equal(error.constructor.name);
      expect(error.cause).to.equal(cause);
      expect(String(error)).to.match(new RegExp(`^${error.name}: [A-Z].+\\.$`));
      expect(isAnimalStoreError(error)).to.equal(true);
    }
    expect(new InvalidCursorError()).not.to.have.property('cause');
  });

  it('name every fault in one sentence', () => {
    expect(new InvalidPetError(faults).message).to.equal(
      'The animal is not valid: name must not be blank; it must be an object.',
    );
    expect(new InvalidParameterError(faults.slice(0, 1)).message).to.equal(
      'The call is not valid: name must not be blank.',
    );
    expect(new InvalidPetError(faults).faults).to.deep.equal(faults);
  });

  it('say what may be asked again, and when', () => {
    expect(new UnavailableError('reading').retryAfter).to.equal(1);
    expect(new UnavailableError('reading', { retryAfter: 30 }).retryAfter).to.equal(30);
    expect(new IdempotencyConflictError().retryAfter).to.equal(1);
    expect(new IdempotencyConflictError({ retryAfter: 5 }).retryAfter).to.equal(5);
  });

  it('keep an id as text, which any log can write', () => {
    expect(new PetNotFoundError(2n ** 63n).petId).to.equal('9223372036854775808');
  });
});

describe('isAnimalStoreError', () => {
  it('knows an error by its code, so that one of another copy of the package counts too', () => {
    for (const code of ANIMAL_STORE_ERROR_CODES) {
      expect(isAnimalStoreError(Object.assign(new Error('foreign'), { code }))).to.equal(true);
    }
  });

  it('takes nothing else for one', () => {
    const others = [
      new Error('no code'),
      Object.assign(new Error('foreign'), { code: 'ECONNREFUSED' }),
      Object.assign(new Error('foreign'), { code: 404 }),
      { code: 'invalid_pet', message: 'no error' },
      'invalid_pet',
      null,
      undefined,
    ];
    for (const value of others) expect(isAnimalStoreError(value)).to.equal(false);
  });
});
