import { JSON_CONTENT, PET, post, send, type Expectation, type Row } from './request-row.js';

const CREATED: Expectation = {
  status: 201,
  body: '{"id":{{id}},"name":"Bella","categoryId":7,"status":"available"}',
};
const MALFORMED: Expectation = { status: 400, code: 'malformed_json' };
const MISSING: Expectation = { status: 400, code: 'missing_body' };

const invalid = (message: RegExp): Expectation => ({ status: 400, code: 'invalid_pet', message });

/** `n` brackets around a value, in an unknown member: `n + 1` levels with the animal's own. */
const nested = (n: number): string => `{"name":"Bella","categoryId":7,"x":${'['.repeat(n)}1${']'.repeat(n)}}`;

const structure: Row[] = [
  {
    name: 'says where a new animal is',
    request: post(PET),
    expect: { ...CREATED, headers: { Location: /^\/v1\/pets\/[1-9]\d*$/ } },
  },
  {
    name: 'says where a new animal is with the public address where that is known',
    given: 'publicUrl',
    request: post(PET),
    expect: {
      ...CREATED,
      headers: { Location: /^https:\/\/animals\.example\/shop\/v1\/pets\/[1-9]\d*$/ },
    },
  },
  {
    name: 'takes members in any order, and white space around them',
    request: post(' \t\r\n{ "status" : "available" ,\n"categoryId" : 7 , "name":"Bella"\r}\n'),
    expect: CREATED,
  },
  {
    name: 'takes members whose names are escaped',
    request: post('{"n\\u0061me":"Bella","\\u0063ategoryId":7}'),
    expect: CREATED,
  },
  {
    name: 'ignores query parameters that belong to the list',
    request: { ...post(PET), target: '{{base}}/pets?limit=0&status=gone&cursor=x' },
    expect: CREATED,
  },
  ...(
    [
      ['an id', '"id":1'],
      ['an id that is no identifier', '"id":"mine"'],
      ['an _id', '"_id":{"$oid":"0"}'],
      ['unknown members', '"price":9.99,"tags":["x",{"y":null}],"owner":{"name":"z"}'],
      ['__proto__', '"__proto__":{"status":"sold","isAdmin":true}'],
      ['constructor', '"constructor":{"prototype":{"status":"sold"}}'],
      ['toString and hasOwnProperty', '"toString":null,"hasOwnProperty":1'],
      ['fields in other spellings', '"Name":"x","categoryid":1.5,"STATUS":"gone","category_id":"x"'],
      ['an empty member name', '"":1'],
      ['a number beyond every range', '"x":1e999999999,"y":123456789012345678901234567890'],
      ['a lone surrogate in an unknown member', '"x":"\\ud83d"'],
      ['U+0000 in an unknown member name', '"\\u0000":1'],
    ] as const
  ).flatMap(([what, members]): Row[] => [
    {
      name: `ignores ${what} in a body, and gives nothing of it back`,
      request: post(`{${members},"name":"Bella","categoryId":7}`),
      expect: CREATED,
    },
  ]),
  {
    name: 'does not take the fields of an animal from __proto__',
    request: post('{"__proto__":{"name":"Bella","categoryId":7}}'),
    expect: invalid(/^(?=.*name is required)(?=.*categoryId is required)/),
  },
  ...(
    [
      ['name', '{"name":"a","name":"b","categoryId":7}'],
      ['name', '{"name":"a","categoryId":7,"n\\u0061me":"b"}', ', once escaped'],
      ['name', '{"name":"Bella","name":"Bella","categoryId":7}', ', the values equal'],
      ['categoryId', '{"name":"a","categoryId":7,"categoryId":7.0}'],
      ['status', '{"name":"a","categoryId":7,"status":"sold","status":"sold"}'],
      ['x', '{"name":"a","categoryId":7,"x":1,"x":1}', ', which the interface does not name'],
      ['a', '{"name":"a","categoryId":7,"x":{"a":1,"a":2}}', ', deep inside'],
      ['a', '{"name":"a","categoryId":7,"x":[0,{"b":{},"a":1,"\\u0061":2}]}', ', deep inside an array'],
      ['__proto__', '{"name":"a","categoryId":7,"__proto__":1,"__proto__":2}', ', whatever its name'],
    ] as const
  ).map(([member, body, how = '']): Row => ({
    name: `refuses a second member ${member}${how}`,
    request: post(body),
    expect: invalid(new RegExp(`${member}.* twice`)),
  })),
  {
    name: 'takes an unknown member nested 16 levels deep',
    request: post(nested(15)),
    expect: CREATED,
  },
  {
    name: 'takes several unknown members nested 16 levels deep',
    request: post(
      `{"name":"Bella","categoryId":7,"x":[${Array(3)
        .fill('['.repeat(14) + ']'.repeat(14))
        .join()}]}`,
    ),
    expect: CREATED,
  },
  {
    name: 'refuses a body nested 17 levels deep',
    request: post(nested(16)),
    expect: invalid(/deeper than 16/),
  },
  {
    name: 'refuses a body nested 100,000 levels deep',
    request: post(nested(100_000)),
    expect: { ...invalid(/deeper than 16/), within: 1000 },
  },
  {
    name: 'refuses objects nested 17 levels deep',
    request: post(`{"name":"Bella","categoryId":7,"x":${'{"y":'.repeat(16)}1${'}'.repeat(16)}}`),
    expect: invalid(/deeper than 16/),
  },
  ...[
    '[]',
    '[{"name":"Bella","categoryId":7}]',
    'null',
    'true',
    'false',
    '7',
    '-0',
    '1e999999999',
    '""',
    '"{}"',
  ].map((body): Row => ({
    name: `refuses a body of ${body}, which is JSON but no object`,
    request: post(body),
    expect: invalid(/must be a JSON object/),
  })),
  {
    name: 'refuses an array nested too deep, and that it is no object',
    request: post('['.repeat(17) + ']'.repeat(17)),
    expect: invalid(/^(?=.*object)(?=.*deeper than 16)/),
  },
];

const bytes = (...parts: ReadonlyArray<string | number>): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

const syntax: Row[] = [
  ...(
    [
      ['of white space only', ' \r\n\t '],
      ['that ends early', '{"name":"Bella","categoryId":7'],
      ['with a comma too many', '{"name":"Bella","categoryId":7,}'],
      ['with a second value behind it', '{"name":"Bella","categoryId":7}{}'],
      ['with a word behind it', '{"name":"Bella","categoryId":7} x'],
      ['with U+0000 behind it', '{"name":"Bella","categoryId":7}\0'],
      ['with a comment', '{"name":"Bella",/* 7 */"categoryId":7}'],
      ['with unquoted members', '{name:"Bella",categoryId:7}'],
      ['with single quotes', "{'name':'Bella','categoryId':7}"],
      ['without commas', '{"name":"Bella" "categoryId":7}'],
      ['without colons', '{"name" "Bella","categoryId" 7}'],
      ['with two colons', '{"name"::"Bella","categoryId":7}'],
      ['with a form feed for white space', '{"name":"Bella",\f"categoryId":7}'],
      ['with a no-break space for white space', '{"name":"Bella",\u00a0"categoryId":7}'],
      ['of form fields', 'name=Bella&categoryId=7'],
      ['of XML', '<pet><name>Bella</name></pet>'],
      ['with a fault in an unknown member', '{"name":"Bella","categoryId":7,"x":[1,]}'],
      [
        'with a fault beneath 16 levels',
        `{"name":"Bella","categoryId":7,"x":${'['.repeat(30)}01${']'.repeat(30)}}`,
      ],
      ['with brackets that do not match', '{"name":"Bella","categoryId":7,"x":[}]}'],
      ['that begins with a byte order mark', `\ufeff${PET}`],
      ['of a byte order mark only', '\ufeff'],
    ] as const
  ).map(([what, body]): Row => ({
    name: `refuses a body ${what} as malformed`,
    request: post(body),
    expect: MALFORMED,
  })),
  ...(
    [
      ['a lone continuation byte', [0x80]],
      ['a byte that UTF-8 never has', [0xff]],
      ['an overlong form', [0xc0, 0x80]],
      ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
      ['a code point beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80]],
      ['a sequence cut short', [0xe2, 0x82]],
      ['Latin-1', [0xe9]],
    ] as const
  ).map(([what, wrong]): Row => ({
    name: `refuses a name that holds ${what} as malformed`,
    request: post(bytes('{"name":"a', ...wrong, '","categoryId":7}')),
    expect: MALFORMED,
  })),
  {
    name: 'refuses an unknown member that holds invalid UTF-8 as malformed',
    request: post(bytes('{"name":"a","categoryId":7,"x":"', 0xff, '"}')),
    expect: MALFORMED,
  },
  {
    name: 'refuses a body that ends in the middle of a character as malformed',
    request: post(bytes(PET, 0xc3)),
    expect: MALFORMED,
  },
  {
    name: 'refuses a body in UTF-16 as malformed',
    request: post(Buffer.from(PET, 'utf16le')),
    expect: MALFORMED,
  },
  {
    name: 'refuses a compressed body that does not say so as malformed',
    request: post(bytes(0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0)),
    expect: MALFORMED,
  },
  { name: 'takes no body for a missing one', request: send('POST', '/pets', JSON_CONTENT), expect: MISSING },
  {
    name: 'takes a body of no bytes for a missing one',
    request: post(''),
    expect: { ...MISSING, staysOpen: true },
  },
  {
    name: 'takes a body of no chunks for a missing one',
    request: { ...post(''), chunked: true },
    expect: MISSING,
  },
  {
    name: 'takes a body of no bytes without a Content-Type for a missing one',
    request: { ...send('POST', '/pets'), body: '' },
    expect: MISSING,
  },
  {
    name: 'leaves the connection open after it read a body that is refused',
    request: post('{}'),
    expect: { ...invalid(/name/), staysOpen: true },
  },
  {
    name: 'leaves the connection open after it added an animal',
    request: post(PET),
    expect: { ...CREATED, staysOpen: true },
  },
];

export const BODIES: readonly Row[] = [...structure, ...syntax];
