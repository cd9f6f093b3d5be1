import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.js';
import type { UnsavedPet } from '../../src/domain/pet.js';

/** A valid animal; what is not given does not matter to the case. */
export const samplePet = (fields: Partial<UnsavedPet> = {}): UnsavedPet =>
  Object.freeze({ name: 'Fido', categoryId: 1n, status: 'available', ...fields });

/** Makes `count` of something, numbered from 1. */
export const times = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index + 1));

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
  '10,000 characters': 'Fido the 🐕 '.repeat(1000).slice(0, 10_000),
};
