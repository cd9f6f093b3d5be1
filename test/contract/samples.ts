import type { ApiKeyRecord } from '../../src/application/ports/api-key-repository.js';
import type { Claim } from '../../src/application/ports/pet-repository.js';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import type { UnsavedPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';

/** Makes `count` of something, numbered from 1. */
export const times = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index + 1));

/** The words of a text: several short values on one line. */
export const words = (text: string): readonly string[] => text.split(' ');

/** The int64 values at which doubles and signs first go wrong. */
const INT64_EDGES: readonly bigint[] = [
  0n,
  -1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  INT64_MAX,
  INT64_MIN,
];

/** Valid names that a store may cut, trim, fold, normalise, escape or execute. */
export const TRICKY_NAMES: readonly string[] = [
  'x',
  '🐶 👩‍👩‍👧‍👦 🏳️‍🌈',
  'Ame\u0301lie',
  'Am\u00e9lie',
  'ﬁdo Ａ',
  'כלב \u202eodiF',
  '  Fido  ',
  '\r\n\tFido\n',
  '\ufeffFido',
  'FiDO',
  'a\u0001b\u007fc\u0085d',
  `'a' "b" \`c\` \\d\\ \\u0041`,
  `Robert'); DROP TABLE pets;--`,
  '100%_?:1',
  '{"$gt": ""}',
  '$where.a.b',
  '007',
  'null',
  '${1+1} {{1+1}} %s',
  '🐕'.repeat(1000),
];

/** A valid animal. The fields that are not given do not matter to the case. */
export const samplePet = (fields: Partial<UnsavedPet> = {}): UnsavedPet =>
  Object.freeze({ name: 'Fido', categoryId: 1n, status: 'available', ...fields });

/** An animal with one of the three statuses, by its number. */
export const petInTurn = (number: number): UnsavedPet =>
  samplePet({ status: PET_STATUSES[number % 3] ?? 'sold' });

/** The values of the parameter `status` of a list. */
export const FILTERS = [undefined, ...PET_STATUSES];

/** `count` valid animals that are alike. */
export const samplePets = (count: number, fields?: Partial<UnsavedPet>): readonly UnsavedPet[] =>
  times(count, () => samplePet(fields));

/** An animal with every field, none with its default value. The compiler checks that it lists every field. */
export const FULL_PET: Required<UnsavedPet> = Object.freeze({
  name: ' Ame\u0301lie ',
  categoryId: 2n ** 53n + 1n,
  status: 'pending',
});

/** Animals with every value that a store may change. */
export const TRICKY_PETS: readonly UnsavedPet[] = [
  ...TRICKY_NAMES.map((name) => samplePet({ name })),
  ...INT64_EDGES.map((categoryId) => samplePet({ ...FULL_PET, categoryId })),
  ...times(3, petInTurn),
];

export const HOUR = 60 * 60 * 1000;
export const DAY = 24 * HOUR;

/** The suite's start, in real time: a store may remove claims that expired an hour ago by its own clock. */
export const START = Date.now();

/** A claim that is kept for 24 hours after the suite's start. */
const sampleClaim = (fields: Partial<Claim> = {}): Claim =>
  Object.freeze({
    scope: 'a scope',
    key: 'a key',
    fingerprint: 'a fingerprint',
    keepUntil: START + DAY,
    ...fields,
  });

/** The arguments of `addOnce` after the animal. */
export type ClaimArguments = readonly [claim: Claim, now: number];

/** A claim that is made `at` milliseconds after the suite's start, and kept for `lifetime`. */
export const claimedAt = (
  at: number,
  fields: Partial<Claim> = {},
  lifetime = DAY,
): ClaimArguments => [sampleClaim({ keepUntil: START + at + lifetime, ...fields }), START + at];

/** A claim that is made at the suite's start. */
export const claimed = (fields: Partial<Claim> = {}): ClaimArguments => claimedAt(0, fields);

const LONG = 'x'.repeat(255);
const ALSO_LONG = `${'x'.repeat(254)}y`;

/** Texts that are equal when folded, trimmed, cut, normalised or read as a number or a pattern. */
const ALIKE: readonly string[] = [
  ...words('bc BC \u00e9 e\u0301 % 1 01'),
  'bc ',
  ' bc',
  LONG,
  ALSO_LONG,
];

/** Pairs of scope and key that are equal when joined, folded, trimmed, cut or normalised. */
export const DISTINCT_PAIRS: readonly (readonly [scope: string, key: string])[] = [
  ...[':', '/', '|', ' ', '.', '","'].flatMap((separator) => [
    [`a${separator}b`, 'c'] as const,
    ['a', `b${separator}c`] as const,
  ]),
  ...ALIKE.flatMap((text) => [['a', text] as const, [text, 'a'] as const]),
  ['A', 'bc'],
  [LONG, ALSO_LONG],
  [ALSO_LONG, LONG],
  ['__proto__', 'toString'],
];

/** An API key whose texts follow from its id, without optional fields. */
export const sampleApiKey = (fields: Partial<ApiKeyRecord> = {}): ApiKeyRecord => {
  const { id = 'k1' } = fields;
  return Object.freeze({
    id,
    name: `the key ${id}`,
    hash: Buffer.from(id).toString('hex').padEnd(64, '0'),
    scopes: ['pets:read', 'pets:write'],
    createdAt: 1_750_000_000_123,
    ...fields,
  });
};

/** An API key with every field. The compiler checks that it lists every field. */
export const FULL_API_KEY: Required<ApiKeyRecord> = Object.freeze({
  ...sampleApiKey({ id: 'full', scopes: ['pets:write', 'pets:groom'] }),
  expiresAt: 1_750_000_000_124,
  revokedAt: 1_750_000_000_001,
});
