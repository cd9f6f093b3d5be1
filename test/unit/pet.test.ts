import { expect } from 'chai';
import { InvalidPetError } from '../../src/domain/errors.js';
import { isPetStatus } from '../../src/domain/pet.js';
import { categoryIdFault, nameFault, savedPet, statusFault, unsavedPet } from '../../src/domain/pet.js';

/** Unicode 16, PropList.txt: every character with the property White_Space. */
const WHITE_SPACE = Array.from(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007' +
    '\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

const named = (character: string): string => `U+${character.charCodeAt(0).toString(16)}`;

const faultsOf = (pet: unknown): readonly unknown[] => {
  try {
    Reflect.apply(unsavedPet, undefined, [pet]);
  } catch (error) {
    if (error instanceof InvalidPetError) return error.faults;
    throw error;
  }
  return [];
};

describe('the name of an animal', () => {
  it('is blank when it is empty or has only White_Space characters, U+0085 and U+3000 among them', () => {
    expect(nameFault('')).to.equal('must not be blank');
    for (const character of WHITE_SPACE) {
      expect(nameFault(character), named(character)).to.equal('must not be blank');
      expect(nameFault(character.repeat(3))).to.equal('must not be blank');
      expect(nameFault(`${character}x`)).to.equal(undefined);
    }
    expect(nameFault(WHITE_SPACE.join(''))).to.equal('must not be blank');
  });

  it('is blank by no other character of the basic plane', () => {
    const blank: string[] = [];
    for (let code = 0; code < 0x10000; code += 1) {
      const character = String.fromCharCode(code);
      if (nameFault(character) === 'must not be blank') blank.push(character);
    }
    expect(blank).to.deep.equal(WHITE_SPACE);
    // The byte order mark is white space to `\s` and `trim`, but not to Unicode.
    for (const text of ['\ufeff', '\u200b']) expect(nameFault(text)).to.equal(undefined);
  });

  it('has no U+0000 and no lone surrogate', () => {
    for (const name of ['\0', 'a\0', '\0a']) expect(nameFault(name)).to.equal('must not contain U+0000');
    for (const name of ['\ud800', 'a\udfffb', '\udc00\ud800', '🐶\ud83d']) {
      expect(nameFault(name)).to.equal('must not contain lone surrogates');
    }
    expect(nameFault('\ud83d\udc36')).to.equal(undefined);
  });

  it('is a string', () => {
    for (const name of [undefined, null, 5, ['Fido'], Object('Fido')]) {
      expect(nameFault(name)).to.equal('must be a string');
    }
  });
});

describe('the category and the status of an animal', () => {
  it('are any int64, and one of three words', () => {
    const range = 'must be an integer from -9223372036854775808 to 9223372036854775807';
    expect([0, -1, 2n ** 63n - 1n].map(categoryIdFault)).to.deep.equal([undefined, undefined, undefined]);
    expect([1.5, '7', 2n ** 63n].map(categoryIdFault)).to.deep.equal([range, range, range]);
    expect(['available', 'pending', 'sold', undefined].map(statusFault)).to.deep.equal(
      Array.from({ length: 4 }, () => undefined),
    );
    expect(statusFault(null)).to.equal('must be one of available, pending, sold');
    expect(['toString', '', 'Sold', null, undefined, 0].some(isPetStatus)).to.equal(false);
  });
});

describe('a new animal', () => {
  it('is frozen, available unless it says otherwise, and has nothing but what an animal has', () => {
    const given = { name: ' Fido ', categoryId: 7, id: 99n, colour: 'black' };
    const pet = unsavedPet(given);
    expect(pet).to.deep.equal({ name: ' Fido ', categoryId: 7n, status: 'available' });
    expect(pet).to.be.frozen;
    expect(unsavedPet({ ...given, status: 'sold' }).status).to.equal('sold');
  });

  it('is refused with every fault it has, and what is missing is called required', () => {
    expect(faultsOf({ name: ' ', categoryId: 1.5, status: 'gone' })).to.deep.equal([
      { field: 'name', message: 'must not be blank' },
      {
        field: 'categoryId',
        message: 'must be an integer from -9223372036854775808 to 9223372036854775807',
      },
      { field: 'status', message: 'must be one of available, pending, sold' },
    ]);
    expect(faultsOf({})).to.deep.equal([
      { field: 'name', message: 'is required' },
      { field: 'categoryId', message: 'is required' },
    ]);
  });

  it('is an object', () => {
    for (const pet of [undefined, null, 'Fido', 5]) {
      expect(faultsOf(pet)).to.deep.equal([{ field: '', message: 'it must be an object' }]);
    }
  });

  it('becomes a frozen animal with an id that shares nothing with what was given', () => {
    const given = { name: 'Fido', categoryId: 1n, status: 'sold' as const };
    const pet = savedPet(5n, given);
    Object.assign(given, { name: 'Rex' });
    expect(pet).to.deep.equal({ id: 5n, name: 'Fido', categoryId: 1n, status: 'sold' });
    expect(pet).to.be.frozen;
  });
});
