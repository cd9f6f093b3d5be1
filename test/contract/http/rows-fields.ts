import type { NewPet } from '../../../src/domain/pet.js';
import { words } from '../samples.js';
import { PET, error, post, row, type Expectation, type Row } from './request-row.js';

const invalid = (message: RegExp): Expectation => error('invalid_pet', { message });

const created = (name: string, categoryId: string, status = 'available'): Expectation => ({
  status: 201,
  body: `{"id":{{id}},"name":${name},"categoryId":${categoryId},"status":"${status}"}`,
});

/** A value in a row's name: short, and with every character visible. */
const shown = (json: string): string => {
  const visible = Array.from(json.slice(0, 60), (character) =>
    /[\x20-\x7e]/.test(character)
      ? character
      : `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return json.length > 60 ? `${visible.slice(0, 8).join('')}… (${json.length})` : visible.join('');
};

interface Field {
  readonly name: keyof NewPet;
  /** The request with this JSON as the field's value. */
  readonly request: (json: string) => Row['request'];
  /** The response to the request, with this JSON as the field's value. */
  readonly created: (json: string) => Expectation;
  /** What the message of a fault says. */
  readonly message: RegExp;
}

const NAME: Field = {
  name: 'name',
  request: (json) => post(`{"name":${json},"categoryId":7}`),
  created: (json) => created(json, '7'),
  message: /\bname\b/,
};

const CATEGORY_ID: Field = {
  name: 'categoryId',
  request: (json) => post(`{"name":"Bella","categoryId":${json}}`),
  created: (json) => created('"Bella"', json),
  message: /\bcategoryId\b/,
};

const STATUS: Field = {
  name: 'status',
  request: (json) => post(`{"name":"Bella","categoryId":7,"status":${json}}`),
  created: (json) => created('"Bella"', '7', json.replaceAll('"', '')),
  message: /status must be one of available, pending, sold/,
};

/** Stores each value, and returns it in its canonical spelling. */
const stores = (
  field: Field,
  values: readonly (string | readonly [sent: string, returned: string])[],
) =>
  values.map((value) => {
    const [sent, returned] = typeof value === 'string' ? [value, value] : value;
    const what = sent === returned ? shown(sent) : `${shown(sent)} as ${shown(returned)}`;
    return row(`stores a ${field.name} of ${what}`, field.request(sent), field.created(returned));
  });

const refuses = (field: Field, values: readonly string[], within?: number) =>
  values.map((json) =>
    row(`refuses a ${field.name} of ${shown(json)}`, field.request(json), {
      ...invalid(field.message),
      ...(within !== undefined && { within }),
    }),
  );

const categoryIds = [
  ...stores(CATEGORY_ID, [
    ...words(
      '0 -1 2147483648 9007199254740993 -9007199254740993 9223372036854775807 -9223372036854775808',
    ),
    ['7.0', '7'],
    ['70e-1', '7'],
    ['-0', '0'],
    ['0e99999999999999999999', '0'],
    ['9.223372036854775807e18', '9223372036854775807'],
    [`0.${'0'.repeat(299)}1e300`, '1'],
  ]),
  ...refuses(CATEGORY_ID, [
    ...words(
      '1.5 1e-1 9223372036854775808 -9223372036854775809 -1e400 "7" "" true null [7] {"$numberLong":"7"}',
    ),
    '9'.repeat(1000),
  ]),
  ...refuses(CATEGORY_ID, words('1e999999999 -1e999999999 1e99999999999999999999'), 50),
];

const names = [
  ...stores(NAME, [
    ...words('"0" "null" "__proto__" "%s%n${7*7}" "\\tBella\\n" "\\u0001" "\u007f\u0080" "\u200b"'),
    ...words('"e\u0301" "\u00e9" "👨‍👩‍👧‍👦" "\u{10ffff}\uffff" "\ufeffa" "\u202eمرحبا" "\\\\u0000"'),
    '"  Bella  "',
    ['"\\ud83d\\udc08"', '"🐈"'],
    ['"\\"\\\\\\/"', '"\\"\\\\/"'],
    ['"\\u0041\\u000a"', '"A\\n"'],
    `"${'n'.repeat(1000)}"`,
    `"${'🐈'.repeat(1000)}"`,
  ]),
  ...refuses(
    NAME,
    words(
      '"" "\u00a0\\n" null true 7 ["Bella"] {"$ne":null} "a\\u0000b" "\\ud83d" "\\udc08\\ud83d"',
    ),
  ),
  ...refuses({ ...NAME, message: /name must not be longer than 1000 characters/ }, [
    `"${'n'.repeat(1001)}"`,
    `"${'🐈'.repeat(1001)}"`,
  ]),
  ...refuses(NAME, [`"${' '.repeat(60_000)}"`], 2000),
];

const statuses = [
  ...stores(STATUS, [...words('"available" "pending" "sold"'), ['"\\u0073old"', '"sold"']]),
  ...refuses(
    STATUS,
    words('null "" "Available" "sold\\u0000" "available,sold" "__proto__" "\uff53old" 0 ["sold"]'),
  ),
];

const missing: ReadonlyArray<readonly [what: string, body: string, message: RegExp]> = [
  [
    'without any field, and names each that is required',
    '{}',
    /^(?=.*name is required)(?=.*categoryId is required)(?!.*status)/,
  ],
  [
    'with several faults, and names each field',
    '{"name":" ","categoryId":1.5,"status":"gone"}',
    /^(?=.*name)(?=.*categoryId)(?=.*status)/,
  ],
];

/** The values of each field of a new animal. */
export const FIELDS = [
  ...categoryIds,
  ...names,
  row('stores an animal without a status as available', post(PET), created('"Bella"', '7')),
  ...statuses,
  ...missing.map(([what, body, message]) =>
    row(`refuses an animal ${what}`, post(body), invalid(message)),
  ),
];
