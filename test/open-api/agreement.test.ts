import { expect } from 'chai';
import * as fc from 'fast-check';
import type { HttpRequest } from '../../src/adapters/http/http-message.js';
import { readPetQuery } from '../../src/adapters/http/parameters.js';
import { readNewPet } from '../../src/adapters/http/request-body.js';
import { readIdempotencyKey } from '../../src/adapters/http/request-headers.js';
import {
  changeQueryValidator,
  listQueryValidator,
  newPetValidator,
  petChangeValidator,
} from '../../src/adapters/http/schemas.js';
import { petQueryFaults, requirePetQuery } from '../../src/application/call-rules.js';
import { AnimalStoreError } from '../../src/domain/errors.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import { changeFaults, newPetFaults, unsavedPet } from '../../src/domain/pet.js';
import { PET_STATUSES, isPetStatus } from '../../src/domain/pet-status.js';
import { parseJson, stringifyJson } from '../../src/exact-json.js';
import { documentFor, judgeFor, operationsOf, type Schema } from './document.js';

const RUNS = { numRuns: 1_000 };

/** Whether the service accepts it. */
function takes(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof AnimalStoreError) return false;
    throw error;
  }
}

/** Integers in and around int64, often at its ends. */
const integer = fc.oneof(
  fc.bigInt({ min: INT64_MIN - 3n, max: INT64_MAX + 3n }),
  fc.bigInt({ min: -3n, max: 103n }),
  fc.constantFrom(INT64_MIN, INT64_MIN - 1n, INT64_MAX, INT64_MAX + 1n, 2n ** 64n, 2n ** 53n + 1n),
);

/** Texts with many characters that are blank, nearly so, or refused. */
const blankish = fc
  .array(
    fc.constantFrom(
      ...Array.from('\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000'),
      ...Array.from('\0\u180e\u200b\ufeff\u001fa🐶'),
    ),
    { maxLength: 4 },
  )
  .map((characters) => characters.join(''));
const text = fc.oneof(
  blankish,
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...PET_STATUSES, 'Sold', 'available '),
);

/** JSON text of any value; integers that int64 does not hold among them. */
const json: fc.Arbitrary<string> = fc.oneof(
  integer.map(String),
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '7.0',
    '7e0',
    '70e-1',
    '1.5',
    '1e-1',
    '-0',
    '1e400',
    '9223372036854775807.0',
    '0e999999999',
  ),
  fc.jsonValue().map((value) => JSON.stringify(value)),
);

/** Compares the schema with the service on generated values, valid and invalid ones. */
function agree<T>(
  values: fc.Arbitrary<T>,
  published: (value: T) => boolean,
  taken: (value: T) => boolean,
) {
  const seen = { true: 0, false: 0 };
  fc.assert(
    fc.property(values, (value) => {
      const good = taken(value);
      seen[`${good}`] += 1;
      expect(published(value)).to.equal(good);
    }),
    RUNS,
  );
  expect(Math.min(seen.true, seen.false), JSON.stringify(seen)).to.be.greaterThan(
    RUNS.numRuns / 50,
  );
}

/** The value that a validator sees. Unlike `parseJson` it makes a bigint of every integer, also beyond int64. */
const seen = (source: string): unknown =>
  /^-?\d+$/.test(source) ? BigInt(source) : parseJson(source);

/** A name that the pattern accepts and the service refuses. */
const isRare = (name: unknown): boolean =>
  typeof name === 'string' && /^\p{White_Space}+$/u.test(name) && /[^\t-\r ]/.test(name);

describe('The published schemas accept exactly what the service accepts:', () => {
  const document = documentFor();
  const judge = judgeFor(document);
  const isNewPet = judge({ $ref: '#/components/schemas/NewPet' });
  const parameter = (id: string, name: string): Schema =>
    operationsOf(document)[id]?.parameters?.find((of) => of.name === name)?.schema ?? {};

  it('names, but for those of rare blanks alone, which no pattern can name in every language', () => {
    agree(
      fc.oneof(blankish, text),
      (name) => isNewPet({ name, categoryId: 1n }) === undefined && !isRare(name),
      (name) => takes(() => unsavedPet(readNewPet(stringifyJson({ name, categoryId: 1 })))),
    );
  });

  it('except lone surrogates in names, which most languages cannot write in a pattern', () => {
    expect(isNewPet({ name: 'a\ud800', categoryId: 1n })).to.equal(undefined);
    expect(takes(() => unsavedPet(readNewPet('{"name":"a\\ud800","categoryId":1}')))).to.equal(
      false,
    );
  });

  it('whole animals, with missing and unknown members', () => {
    const member = fc.record(
      {
        name: fc.oneof(fc.constant('"Bella"'), json),
        categoryId: fc.oneof(fc.constant('9223372036854775807'), json),
        status: fc.oneof(fc.constant('"sold"'), json),
        id: json,
        toString: json,
      },
      { requiredKeys: [] },
    );
    agree(
      member,
      (pet) =>
        isNewPet(
          Object.fromEntries(Object.entries(pet).map(([name, source]) => [name, seen(source)])),
        ) === undefined && !isRare(JSON.parse(pet.name ?? '""')),
      (pet) => {
        const members = Object.entries(pet).map(([name, source]) => `"${name}":${source}`);
        return takes(() => unsavedPet(readNewPet(`{${members.join()}}`)));
      },
    );
  });

  it('limits', () => {
    const isLimit = judge(parameter('listPets', 'limit'));
    agree(
      integer,
      (limit) => isLimit(limit) === undefined,
      (limit) => takes(() => requirePetQuery(readPetQuery(`limit=${limit}`))),
    );
  });

  it('idempotency keys', () => {
    const isKey = judge(parameter('createPet', 'Idempotency-Key'));
    const character = fc.oneof(
      fc.constantFrom('"', '\\', ' ', '!', '~', '\u007f', 'é'),
      fc.string({ maxLength: 1 }),
    );
    const key = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(''));
    const quoted = key.map((bare) => `"${bare}"`);
    agree(
      fc.oneof(
        key,
        quoted,
        fc.integer({ min: 250, max: 258 }).map((length) => 'k'.repeat(length)),
      ),
      (value) => isKey(value) === undefined,
      (value) =>
        takes(() => readIdempotencyKey({ header: () => value } as unknown as HttpRequest, 'scope')),
    );
  });
});

describe('The compiled checks pass exactly what breaks no rule of the domain:', () => {
  /** Values that programs, JSON and query strings can hold. */
  const value = fc.oneof(
    integer,
    text,
    json.map(seen),
    fc.constant(undefined),
    fc.constant(Number.NaN),
  );
  const status = fc.oneof(fc.constantFrom(...PET_STATUSES, undefined), value);
  const int64s = fc.oneof(integer, value);

  it('new animals, but for names that no pattern can refuse in every language', () => {
    const given = { name: fc.oneof(fc.constant('Bella'), value), categoryId: int64s, status };
    agree(
      fc.record(given, { requiredKeys: [] }),
      (pet) => newPetValidator.Check(pet) && !isRare(pet.name) && isWellFormed(pet.name),
      (pet) => isForHttp(pet.categoryId) && newPetFaults(pet).length === 0,
    );
  });

  it('names of 1,000 characters, counted as code points', () => {
    const long = fc.tuple(fc.constantFrom('é', '🐶'), fc.integer({ min: 990, max: 1010 }));
    agree(
      long.map(([character, length]) => ({ name: character.repeat(length), categoryId: 1n })),
      (pet) => newPetValidator.Check(pet),
      (pet) => newPetFaults(pet).length === 0,
    );
  });

  it('queries of a list', () => {
    const limit = fc.oneof(fc.integer({ min: -1, max: 102 }), fc.constant(undefined), value);
    const after = fc.oneof(int64s, fc.constant(undefined));
    agree(
      fc.record({ limit, status, after }, { requiredKeys: [] }),
      (query) => listQueryValidator.Check(query),
      (query) => petQueryFaults(query).length === 0,
    );
  });

  it('changes, but for names that no pattern can refuse in every language', () => {
    const given = {
      name: fc.oneof(fc.constant('Bella'), value),
      categoryId: int64s,
      status: fc.constantFrom(...PET_STATUSES, 'Sold'),
    };
    agree(
      // JSON has no undefined.
      fc.record(given, { requiredKeys: [] }).map((change) => withoutUndefined(change)),
      (change) =>
        petChangeValidator.Check(change) && !isRare(change.name) && isWellFormed(change.name),
      (change) => isForHttp(change['categoryId']) && changeFaults(change).length === 0,
    );
  });

  it('statuses that a change starts from', () => {
    agree(
      status,
      (from) => changeQueryValidator.Check({ from }),
      (from) => from === undefined || isPetStatus(from),
    );
  });

  it('both ends of int64, which compiled bounds alone would round', () => {
    for (const [end, isInside] of [
      [INT64_MIN - 1n, false],
      [INT64_MIN, true],
      [INT64_MAX, true],
      [INT64_MAX + 1n, false],
    ] as const) {
      expect(
        newPetValidator.Check({ name: 'Bella', categoryId: end }),
        `categoryId ${end}`,
      ).to.equal(isInside);
      expect(listQueryValidator.Check({ after: end }), `after ${end}`).to.equal(isInside);
    }
  });
});

const withoutUndefined = (object: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

const isWellFormed = (name: unknown): boolean => typeof name !== 'string' || name.isWellFormed();

/** Of programs the domain accepts safe numbers, too. Over HTTP integers are bigints. */
const isForHttp = (categoryId: unknown): boolean => typeof categoryId !== 'number';
