import { words } from '../samples.js';
import { PET, error, post, row, type Expectation, type Row } from './request-row.js';

const MALFORMED: Expectation = error('malformed_json');

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
  readonly name: 'name' | 'categoryId' | 'status';
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
): Row[] =>
  values.map((value) => {
    const [sent, returned] = typeof value === 'string' ? [value, value] : value;
    return {
      name: `stores a ${field.name} of ${shown(sent)}${sent === returned ? '' : ` as ${shown(returned)}`}`,
      request: field.request(sent),
      expect: field.created(returned),
    };
  });

const refuses = (field: Field, values: readonly string[], within?: number): Row[] =>
  values.map((json) =>
    row(`refuses a ${field.name} of ${shown(json)}`, field.request(json), {
      ...invalid(field.message),
      ...(within !== undefined && { within }),
    }),
  );

const refusesAsMalformed = (field: Field, values: readonly string[]): Row[] =>
  values.map((json) =>
    row(
      `refuses a ${field.name} written as ${shown(json)}, which is not JSON`,
      field.request(json),
      MALFORMED,
    ),
  );

const categoryIds: Row[] = [
  ...stores(CATEGORY_ID, [
    ...words('0 -1 2147483648 4294967296 9007199254740991 9007199254740993 -9007199254740993'),
    ...words('1000000000000000001 9223372036854775807 -9223372036854775808'),
    ['7.0', '7'],
    ['7E+2', '700'],
    ['70e-1', '7'],
    ['-0', '0'],
    ['-0.0e999999999', '0'],
    ['0e99999999999999999999', '0'],
    ['9007199254740993.0', '9007199254740993'],
    ['9.223372036854775807e18', '9223372036854775807'],
    ['-9.223372036854775808E+18', '-9223372036854775808'],
    ['92233720368547758070e-1', '9223372036854775807'],
    [`1${'0'.repeat(300)}e-300`, '1'],
    [`0.${'0'.repeat(299)}1e300`, '1'],
  ]),
  ...refuses(CATEGORY_ID, [
    ...words(
      '1.5 7.00000000000000000001 1e-1 9223372036854775808 -9223372036854775809 9223372036854775807.5',
    ),
    ...words('1e19 -1e400 1e-999999999 18446744073709551615 "7" "" true null [7] {"$numberLong":"7"}'),
    '9'.repeat(1000),
  ]),
  ...refuses(CATEGORY_ID, words('1e999999999 -1e999999999 1e99999999999999999999'), 50),
  ...refusesAsMalformed(CATEGORY_ID, [...words("007 +7 .5 5. - 0x7 7n 1e NaN '7' ٧"), '7 7']),
];

/** Unicode's White_Space property, in escapes. */
const WHITE_SPACE = [
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005,
  0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
].map((code) => `\\u${code.toString(16).padStart(4, '0')}`);

const names: Row[] = [
  ...stores(NAME, [
    ...words('"a" "0" "null" "__proto__" "%s%n${7*7}" "\\tBella\\n" "\\u0001" "\u007f\u0080" "\u200b"'),
    ...words('"e\u0301" "\u00e9" "\u212b\ufb01" "👨‍👩‍👧‍👦" "\u{10ffff}\uffff" "\ufeffa" "\u202eمرحبا" "\\\\u0000"'),
    '"  Bella  "',
    '"a\u3000\u2028\u2029"',
    `"' OR 1=1 --"`,
    ['"\\ufeff"', '"\ufeff"'],
    ['"\\ud83d\\udc08"', '"🐈"'],
    ['"\\"\\\\\\/"', '"\\"\\\\/"'],
    ['"\\u0041\\u000a"', '"A\\n"'],
    `"${'n'.repeat(250_000)}"`,
    `"${'🐈'.repeat(60_000)}"`,
  ]),
  ...[...WHITE_SPACE, WHITE_SPACE.join('')].map((text) =>
    row(
      `refuses a name of ${shown(text)}, which is blank`,
      NAME.request(`"${text}"`),
      invalid(/name must not be blank/),
    ),
  ),
  ...refuses(
    NAME,
    words('"" null true 7 1e400 ["Bella"] {"$ne":null} "a\\u0000b" "\\ud83d" "\\udc08\\ud83d"'),
  ),
  ...refuses(NAME, [`"${' '.repeat(250_000)}"`], 2000),
  ...refusesAsMalformed(NAME, words('Bella \'Bella\' "Bella "a\nb" "a\u0000b" "\\x41" "\\u12"')),
];

const statuses: Row[] = [
  ...stores(STATUS, [...words('"available" "pending" "sold"'), ['"\\u0073old"', '"sold"']]),
  ...refuses(STATUS, [
    ...words(
      'null "" "Available" "sold\\u0000" "unknown" "available,sold" "__proto__" "\uff53old" 0 true ["sold"]',
    ),
    '" sold"',
  ]),
  ...refusesAsMalformed(STATUS, words('sold "sold')),
];

const missing: ReadonlyArray<readonly [what: string, body: string, message: RegExp]> = [
  ['without a categoryId', '{"name":"Bella"}', /categoryId is required/],
  ['without a name', '{"categoryId":7}', /name is required/],
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
export const FIELDS: readonly Row[] = [
  ...categoryIds,
  ...names,
  row('stores an animal without a status as available', post(PET), created('"Bella"', '7')),
  ...statuses,
  ...missing.map(([what, body, message]) => row(`refuses an animal ${what}`, post(body), invalid(message))),
];
