import { inspect } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  ANIMAL_STORE_ERROR_CODES,
  AnimalStoreError,
  IdempotencyConflictError,
  IdempotencyKeyReusedError,
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  PreconditionFailedError,
  StatusConflictError,
  UnavailableError,
  isAnimalStoreError,
} from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN, isInt64, parseInt64, toInt64 } from '../../src/domain/int64.js';
import { PET_FIELDS, PET_RULES, petFrom, unsavedPet, type NewPet } from '../../src/domain/pet.js';
import { FULL_PET } from '../contract/samples.js';

const cause = new Error('the inside');
const faults = [
  { field: 'name', message: 'must be short' },
  { field: '', message: 'it must be an object' },
];

const EVERY_ERROR = [
  new InvalidPetError(faults, { cause }),
  new InvalidParameterError(faults, { cause }),
  new PetNotFoundError(5n, { cause }),
  new IdempotencyConflictError({ cause }),
  new IdempotencyKeyReusedError({ cause }),
  new StatusConflictError('sold', { cause }),
  new PreconditionFailedError({ cause }),
  new UnavailableError('reading an animal', { cause }),
];

const json = (error: Error): unknown => JSON.parse(JSON.stringify(error));

describe('The errors of the animal store', () => {
  it('have one class for each code, its name and a cause', () => {
    expect(EVERY_ERROR.map(({ code }) => code)).to.deep.equal([...ANIMAL_STORE_ERROR_CODES]);
    for (const error of EVERY_ERROR) {
      expect(error).to.be.instanceOf(AnimalStoreError).and.instanceOf(Error);
      expect(error.name).to.equal(error.constructor.name);
      expect(error.cause).to.equal(cause);
      expect(String(error)).to.match(new RegExp(`^${error.name}: [A-Z].+\\.$`));
    }
    expect(new IdempotencyKeyReusedError()).not.to.have.property('cause');
  });

  it('name every fault in one sentence', () => {
    expect(new InvalidPetError(faults).message).to.equal(
      'The animal is not valid: name must be short; it must be an object.',
    );
    expect(new InvalidParameterError(faults.slice(0, 1)).message).to.equal(
      'The call is not valid: name must be short.',
    );
  });

  it('say after how many seconds a retry makes sense', () => {
    expect(new UnavailableError('reading').retryAfter).to.equal(1);
    expect(new UnavailableError('reading', { retryAfter: 30 }).retryAfter).to.equal(30);
    expect(new IdempotencyConflictError({ retryAfter: 5 }).retryAfter).to.equal(5);
  });

  it('are JSON with message and details, without cause and stack', () => {
    for (const error of EVERY_ERROR) {
      const { name, code, message } = error;
      expect(json(error))
        .to.include({ name, code, message })
        .and.not.have.any.keys('cause', 'stack');
    }
    expect(json(new InvalidPetError(faults))).to.have.deep.property('faults', faults);
    expect(json(new PetNotFoundError(5n))).to.have.property('petId', '5');
    expect(json(new StatusConflictError('sold'))).to.have.property('status', 'sold');
    expect(json(new UnavailableError('reading'))).to.have.property('retryAfter', 1);
  });

  it('are recognised by their code, also if another copy of the package made them', () => {
    for (const code of ANIMAL_STORE_ERROR_CODES) {
      expect(isAnimalStoreError(Object.assign(new Error('foreign'), { code })), code).to.equal(
        true,
      );
    }

    const others = [
      new Error('no code'),
      Object.assign(new Error('foreign'), { code: 'ECONNREFUSED' }),
      { code: 'invalid_pet', message: 'no error' },
      'invalid_pet',
      null,
    ];

    for (const value of others) expect(isAnimalStoreError(value), inspect(value)).to.equal(false);
  });
});

describe('int64', () => {
  it('is every bigint that keeps its value in 64 bits, and nothing else', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }), (value) => {
        expect(isInt64(value)).to.equal(BigInt.asIntN(64, value) === value);
      }),
    );

    for (const value of [INT64_MIN, INT64_MAX])
      expect(isInt64(value), String(value)).to.equal(true);
    for (const value of [INT64_MIN - 1n, INT64_MAX + 1n, 0, '1', null])
      expect(isInt64(value), String(value)).to.equal(false);
  });

  it('is made of safe integers and bigints in range only', () => {
    expect(toInt64(7)).to.equal(7n);
    expect(toInt64(-0)).to.equal(0n);
    expect(toInt64(Number.MIN_SAFE_INTEGER)).to.equal(-(2n ** 53n) + 1n);
    expect(toInt64(INT64_MAX)).to.equal(INT64_MAX);
    for (const value of [
      2 ** 53,
      1.5,
      NaN,
      Infinity,
      INT64_MAX + 1n,
      INT64_MIN - 1n,
      '7',
      true,
      null,
      [7],
    ]) {
      expect(toInt64(value), String(value)).to.equal(undefined);
    }
  });

  it('is read from its own text, and from no other spelling', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
        (value) => parseInt64(String(value)) === value,
      ),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+]?[0-9]{0,21}$/)), (text) => {
        const value = parseInt64(text);
        if (value !== undefined) expect(String(value)).to.equal(text);
      }),
    );

    for (const text of [
      '',
      '-',
      '007',
      '+5',
      '-0',
      '1e3',
      '0x1',
      '1.0',
      '1n',
      ' 1',
      '1\n',
      '1_0',
      '٣',
    ]) {
      expect(parseInt64(text), text).to.equal(undefined);
    }
    for (const text of ['9223372036854775808', '-9223372036854775809', '9'.repeat(1_000_000)]) {
      expect(parseInt64(text), text.slice(0, 30)).to.equal(undefined);
    }
  });
});

/** Unicode 16, PropList.txt: every character with the property White_Space. */
const WHITE_SPACE = Array.from(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007' +
    '\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

const faultsOf = (pet: unknown): readonly unknown[] => {
  try {
    unsavedPet(pet as NewPet);
  } catch (error) {
    if (error instanceof InvalidPetError) return error.faults;
    throw error;
  }
  return [];
};

const BLANK = 'must not be blank';

describe('A name', () => {
  it('is blank if it has only White_Space characters, and by no other character', () => {
    for (const text of ['', ...WHITE_SPACE, WHITE_SPACE.join('')]) {
      expect(PET_RULES.name(text), JSON.stringify(text)).to.equal(BLANK);
      expect(PET_RULES.name(`${text}x`), JSON.stringify(`${text}x`)).to.equal(undefined);
    }

    const blank = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => PET_RULES.name(character) === BLANK,
    );

    expect(blank).to.deep.equal(WHITE_SPACE);
  });
});

const isRefused = (
  pet: unknown,
  ...expected: readonly (readonly [field: string, message: string])[]
) => expect(faultsOf(pet)).to.deep.equal(expected.map(([field, message]) => ({ field, message })));

/** How long some work takes, in milliseconds. */
const timeOf = (work: () => unknown): number => {
  const began = performance.now();
  work();
  return performance.now() - began;
};

describe('An animal', () => {
  it('is refused with every fault', () => {
    isRefused(
      { name: ' ', categoryId: 1.5, status: 'gone' },
      ['name', BLANK],
      ['categoryId', 'must be an integer from -9223372036854775808 to 9223372036854775807'],
      ['status', 'must be one of available, pending, sold'],
    );
    isRefused({}, ['name', 'is required'], ['categoryId', 'is required']);
    isRefused({ name: 'Rex', categoryId: 2 ** 60 }, [
      'categoryId',
      'must be a bigint, or a number that is a safe integer',
    ]);
    isRefused({ ...FULL_PET, name: 5 }, ['name', 'must be a string']);
    isRefused({ ...FULL_PET, name: 'a\0' }, ['name', 'must not contain U+0000']);
    isRefused({ ...FULL_PET, name: '🐶\ud83d' }, ['name', 'must not contain lone surrogates']);
    for (const pet of [undefined, null, 'Fido', 5]) isRefused(pet, ['', 'it must be an object']);
  });

  it('has no field that may be the empty text, which a file cannot tell from none', () => {
    for (const field of PET_FIELDS)
      expect(faultsOf({ ...FULL_PET, [field]: '' }), field).to.have.length(1);
  });

  it('reads each field of what it is made of once: a getter cannot change it after the check', () => {
    const names = ['Fido'];
    const pet = unsavedPet({
      categoryId: 1n,
      get name() {
        return names.pop() ?? '';
      },
    });

    expect(pet.name).to.equal('Fido');
  });

  it('is read from data of other programs, and every fault of those is named', () => {
    expect(petFrom({ ...FULL_PET, id: 5, categoryId: 8 })).to.deep.equal({
      ...FULL_PET,
      id: 5n,
      categoryId: 8n,
    });
    for (const [data, message] of [
      [{ id: '5' }, 'id must be an int64'],
      [
        { id: 'x', name: '', categoryId: 'y', status: 'z' },
        /id must be an int64; name .+; categoryId .+; status .+\.$/,
      ],
      [{ id: 5n, status: undefined }, 'status is required'],
      [{ id: 5n, name: '' }, `name ${BLANK}`],
    ] as const)
      expect(() => petFrom({ ...FULL_PET, ...data })).to.throw(InvalidPetError, message);
  });

  it('has a name of at most 1,000 code points', () => {
    for (const character of ['n', '🐈']) {
      expect(
        unsavedPet({ name: character.repeat(1000), categoryId: 1 }).name,
      ).to.have.length.at.least(1000);
      const name = character.repeat(1001);
      isRefused({ name, categoryId: 1 }, ['name', 'must not be longer than 1000 characters']);
    }
  });

  it('has a name that is refused at once, however long it is', () => {
    const name = 'n'.repeat(2 ** 22);
    const refusing = () =>
      isRefused({ name, categoryId: 1 }, ['name', 'must not be longer than 1000 characters']);
    const fastest = Math.min(...[1, 2, 3].map(() => timeOf(refusing)));
    const counting = timeOf(() => Array.from(name).length);

    expect(fastest, 'milliseconds, where counting its characters takes more').to.be.below(
      counting / 2,
    );
  });
});
