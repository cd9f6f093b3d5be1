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

/** The int64 values at which a number, a double or a sign goes wrong first. */
export const INT64_EDGES: readonly bigint[] = [
  0n,
  -1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  INT64_MAX,
  INT64_MIN,
];

/** Valid names that a store may cut, trim, fold, normalise, escape or execute, by what is special in them. */
export const TRICKY_NAMES: Readonly<Record<string, string>> = {
  'one character': 'x',
  emoji: '🐶 👩‍👩‍👧‍👦 🏳️‍🌈',
  'a combining mark (NFD)': 'Ame\u0301lie',
  'a composed letter (NFC)': 'Am\u00e9lie',
  'a ligature and a full-width letter': 'ﬁdo Ａ',
  'writing from right to left': 'כלב \u202eodiF',
  'leading and trailing spaces': '  Fido  ',
  'leading and trailing line breaks': '\r\n\tFido\n',
  'a leading byte order mark': '\ufeffFido',
  'capitals only in part': 'FiDO',
  'control characters': 'a\u0001b\u007fc\u0085d',
  'quotes and backslashes': `'a' "b" \`c\` \\d\\ \\u0041`,
  'SQL in it': `Robert'); DROP TABLE pets;--`,
  'SQL wildcards': '100%_?:1',
  'the look of an operator': '{"$gt": ""}',
  'a leading dollar and dots': '$where.a.b',
  'the look of a number': '007',
  'the look of null': 'null',
  'the look of a template': '${1+1} {{1+1}} %s',
  '1,000 characters': '🐕'.repeat(1000),
};

/** A valid animal. The fields that are not given do not matter to the case. */
export const samplePet = (fields: Partial<UnsavedPet> = {}): UnsavedPet =>
  Object.freeze({ name: 'Fido', categoryId: 1n, status: 'available', ...fields });

/** `count` valid animals that are alike. */
export const samplePets = (count: number, fields?: Partial<UnsavedPet>): readonly UnsavedPet[] =>
  times(count, () => samplePet(fields));

/** An animal with every field, optional ones too, and no default value. A new field of `Pet` does not compile here. */
export const FULL_PET: Required<UnsavedPet> = Object.freeze({
  name: ' Ame\u0301lie ',
  categoryId: 2n ** 53n + 1n,
  status: 'pending',
});

/** For each field of an animal the values to keep, by what is special. A new field of `Pet` does not compile here. */
export const FIELD_VALUES: {
  readonly [Field in keyof Required<UnsavedPet>]: Readonly<
    Record<string, Required<UnsavedPet>[Field]>
  >;
} = {
  name: TRICKY_NAMES,
  categoryId: Object.fromEntries(INT64_EDGES.map((value) => [`${value}`, value])),
  status: Object.fromEntries(PET_STATUSES.map((status) => [status, status])),
};

const HOUR = 60 * 60 * 1000;

/** Real time, because a store may remove expired claims by its own clock. */
const START = Date.now();

/** The time this many milliseconds after the suite's start. */
export const instant = (at: number): number => START + at;

/** A claim that is kept for 24 hours after the suite's start. */
export const sampleClaim = (fields: Partial<Claim> = {}): Claim =>
  Object.freeze({
    scope: 'a scope',
    key: 'a key',
    fingerprint: 'a fingerprint',
    keepUntil: instant(24 * HOUR),
    ...fields,
  });

/** What `addOnce` gets beside an animal. */
export type Claiming = readonly [claim: Claim, now: number];

/** A claim that is made at a time, and kept for 24 hours from then. */
export const claimedAt = (at: number, fields: Partial<Claim> = {}): Claiming => [
  sampleClaim({ keepUntil: instant(at + 24 * HOUR), ...fields }),
  instant(at),
];

/** A claim that is made at the suite's start. */
export const claimed = (fields: Partial<Claim> = {}): Claiming => claimedAt(0, fields);

const LONG = 'x'.repeat(255);
const LONG_TOO = `${'x'.repeat(254)}y`;

/** Texts that are equal when folded, trimmed, cut, normalised or read as a number or a pattern. */
const ALIKE: readonly string[] = [
  ...words('bc BC \u00e9 e\u0301 % 1 01'),
  'bc ',
  ' bc',
  LONG,
  LONG_TOO,
];

/** Pairs of scope and key that are equal when joined, folded, trimmed, cut or normalised. */
export const DISTINCT_PAIRS: readonly (readonly [scope: string, key: string])[] = [
  ...[':', '/', '|', ',', '-', '_', ' ', '.', '\n', '","'].flatMap((separator) => [
    [`a${separator}b`, 'c'] as const,
    ['a', `b${separator}c`] as const,
  ]),
  ...ALIKE.flatMap((text) => [['a', text] as const, [text, 'a'] as const]),
  ['ab', 'c'],
  ['c', 'ab'],
  ['A', 'bc'],
  [LONG, LONG],
  [LONG, LONG_TOO],
  [LONG_TOO, LONG],
  ['__proto__', 'toString'],
];

/** An API key whose texts follow from its id, without optional fields. */
export const sampleApiKey = (fields: Partial<ApiKeyRecord> = {}): ApiKeyRecord => {
  const { id = 'k1' } = fields;
  return Object.freeze({
    id,
    name: `the key ${id}`,
    hash: Array.from(id, (character) => character.charCodeAt(0).toString(16))
      .join('')
      .padEnd(64, '0'),
    scopes: ['pets:read', 'pets:write'],
    createdAt: 1_750_000_000_123,
    ...fields,
  });
};

/** An API key with every field, optional ones too. A new field of `ApiKeyRecord` does not compile here. */
export const fullApiKey = (): Required<ApiKeyRecord> => ({
  ...sampleApiKey({ id: 'full', scopes: ['pets:write', 'pets:groom'] }),
  expiresAt: 1_750_000_000_124,
  revokedAt: 1_750_000_000_001,
});

/** Neighbours differ in the bits that codecs ignore first, and the end is special to some of them. */
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~+/= \0é\ud800';

/** The text with one character changed, removed, doubled or inserted, at each place: in a few ways that vary. */
export const alterations = (text: string): readonly string[] =>
  Array.from({ length: text.length + 1 }, (_, place) => {
    const before = text.slice(0, place);
    const at = text.charAt(place);
    const after = text.slice(place + 1);
    const index = ALPHABET.indexOf(at);
    // 29 and the length have no common factor, so each character has its turn.
    const another = ALPHABET.charAt((place * 29) % ALPHABET.length);
    const otherCase = at === at.toLowerCase() ? at.toUpperCase() : at.toLowerCase();
    const neighbours = [ALPHABET.charAt(index - 1), ALPHABET.charAt(index + 1)];
    return ['', at + at, another + at, ...neighbours, another, otherCase].map(
      (changed) => before + changed + after,
    );
  })
    .flat()
    .filter((altered) => altered !== text);

/** The text without some characters at its start or at its end. */
export const truncations = (text: string): readonly string[] =>
  Array.from(text, (_, index) => [text.slice(0, index), text.slice(index + 1)]).flat();
