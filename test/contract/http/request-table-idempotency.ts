import { JSON_CONTENT, PET, bearer, post, send, type Header, type Row } from './request-row.js';

const key = (value: string): Header => ['Idempotency-Key', value];

/** Every row that is answered with 201 has a key of its own: keys are remembered for the whole suite. */
const ACCEPTED = [
  ['of one character', 'a'],
  ['of 255 characters', 'k'.repeat(255)],
  ['of 255 characters in quotes', `"${'q'.repeat(255)}"`],
  ['that is a UUID in quotes', '"8e03978e-40d5-43e8-bc93-6894a57f9324"'],
  [
    'of every character there may be',
    "!#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~",
  ],
  ['with a comma', 'one,two'],
  ['in braces like an operator', '{$gt:0}'],
] as const;

const REFUSED = [
  ['that is empty', ''],
  ['that is empty in quotes', '""'],
  ['of 256 characters', 'k'.repeat(256)],
  ['of 256 characters in quotes', `"${'k'.repeat(256)}"`],
  ['with a space', 'one two'],
  ['with a tab', 'one\ttwo'],
  ['with a quote at its beginning only', '"one'],
  ['with a quote at its end only', 'one"'],
  ['with a quote inside', 'o"ne'],
  ['with two quotes around it', '""one""'],
  ['with a backslash', String.raw`o\ne`],
  ['with an escaped quote', String.raw`"o\"ne"`],
  ['with a letter beyond ASCII', 'cl\u00e9'],
  ['with a parameter', '"one"; a=1'],
  ['that is two', '"one", "two"'],
] as const;

const refused = {
  status: 400,
  code: 'invalid_parameter',
  message: /Idempotency-Key must be sent once/,
} as const;

/** The header of a create that may be repeated. */
export const IDEMPOTENCY: readonly Row[] = [
  ...ACCEPTED.map(([what, value]): Row => ({
    name: `adds an animal under an idempotency key ${what}`,
    request: post(PET, key(value)),
    expect: {
      status: 201,
      headers: { 'Idempotency-Replayed': null },
      body: '{"id":{{id}},"name":"Bella","categoryId":7,"status":"available"}',
    },
  })),
  ...REFUSED.map(([what, value]): Row => ({
    name: `refuses an idempotency key ${what}`,
    request: post(PET, key(value)),
    expect: { ...refused, closes: true },
  })),
  {
    name: 'refuses an idempotency key that is sent twice, though it be the same',
    request: post(PET, key('one'), key('one')),
    expect: { ...refused, closes: true },
  },
  {
    name: 'ignores an idempotency key where nothing is created',
    request: send('GET', '/pets?limit=1', key('not one')),
    expect: { status: 200 },
  },
  {
    name: 'looks at the scope before the idempotency key',
    request: { ...post(PET, key('')), headers: [bearer('{{readOnlyKey}}'), JSON_CONTENT, key('')] },
    expect: { status: 403, code: 'insufficient_scope', closes: true },
  },
  {
    name: 'looks at the key before the idempotency key',
    request: { ...post(PET), headers: [JSON_CONTENT, key('')] },
    expect: { status: 401, code: 'missing_api_key', closes: true },
  },
  {
    name: 'looks at the idempotency key before whether there is a body',
    request: send('POST', '/pets', key('')),
    expect: refused,
  },
  {
    name: 'looks at the idempotency key before the media type',
    request: { ...send('POST', '/pets', ['Content-Type', 'text/plain'], key('')), body: PET },
    expect: { ...refused, closes: true },
  },
  {
    name: 'looks at the idempotency key before the body is sent for',
    request: { ...post(PET, key(''), ['Expect', '100-continue']), awaitsContinue: true },
    expect: { ...refused, closes: true },
    socketOnly: 'whoever listens meets expectations',
  },
  {
    name: 'answers 409 while an earlier create with the same key is not decided, and says when to come again',
    given: 'storeUndecided',
    request: post(PET, key('undecided')),
    expect: { status: 409, code: 'idempotency_conflict', headers: { 'Retry-After': '3' } },
  },
];
