import type { ErrorCode } from '../../../src/adapters/http/index.js';
import {
  JSON_CONTENT,
  bare,
  by,
  error,
  get,
  post,
  postAs,
  row,
  send,
  type Header,
  type RowRequest,
} from './request-row.js';
import type { Situation } from './wire-http.js';

const BIG = 'x'.repeat(300_000);
const NO_KEY: Header = ['Idempotency-Key', ''];

/** Requests with several faults: the first in the order of the checks is answered. */
const FAULTS: ReadonlyArray<
  readonly [first: string, later: string, ErrorCode, RowRequest, Situation?]
> = [
  ['the key', 'what it has in progress', 'missing_api_key', by(undefined, get('/pets')), 'busy'],
  ['what a key has in progress', 'the path', 'service_unavailable', get('/orders'), 'busy'],
  ['the key', 'the path', 'invalid_api_key', by('nobody', get('/orders'))],
  ['the key', 'the method', 'missing_api_key', by(undefined, send('PUT', '/pets'))],
  ['the key', 'the removal', 'missing_api_key', by(undefined, get('/pets/1')), 'getPetOff'],
  ['the method', 'the removal', 'method_not_allowed', send('DELETE', '/pets/1'), 'getPetOff'],
  ['the method', 'the scope', 'method_not_allowed', by('{{readOnlyKey}}', send('PUT', '/pets'))],
  [
    'the removal',
    'the scope',
    'operation_removed',
    by('{{writeOnlyKey}}', get('/pets/1')),
    'getPetOff',
  ],
  [
    'the scope',
    'the parameters',
    'insufficient_scope',
    by('{{writeOnlyKey}}', get('/pets?limit=0')),
  ],
  ['the scope', 'the body', 'insufficient_scope', by('{{readOnlyKey}}', send('POST', '/pets'))],
  ['the idempotency key', 'the body', 'invalid_parameter', send('POST', '/pets', NO_KEY)],
  ['the presence of a body', 'its media type', 'missing_body', postAs('text/plain', '')],
  ['the media type', 'the size of the body', 'unsupported_media_type', postAs('text/plain', BIG)],
  [
    'the media type',
    'the store',
    'unsupported_media_type',
    postAs('text/plain'),
    'storeUnreachable',
  ],
  [
    'the encoding',
    'the size of the body',
    'unsupported_media_type',
    { ...send('POST', '/pets', JSON_CONTENT, ['Content-Encoding', 'br']), body: BIG },
  ],
  [
    'the size of the body',
    'its charset',
    'payload_too_large',
    postAs('application/json; charset=latin1', BIG),
  ],
  ['the syntax', 'the fields', 'malformed_json', post('{"name":"","categoryId":1.5,}')],
  [
    'the syntax to the end',
    'the depth',
    'malformed_json',
    post(`{"name":"a","categoryId":1,"x":${'['.repeat(30_000)}1${']'.repeat(29_999)}}`),
  ],
  ['the key', 'the store', 'invalid_api_key', by('nobody', get('/pets')), 'storeFaulty'],
  ['the fields', 'the store', 'invalid_pet', post('{}'), 'storeUnreachable'],
  ['the parameters', 'the store', 'invalid_parameter', get('/pets?limit=101'), 'storeUnreachable'],
  ['the id', 'the store', 'pet_not_found', get('/pets/abc'), 'storeUnreachable'],
];

export const ORDER_OF_CHECKS = [
  row(
    'answers OPTIONS even when it is busy',
    bare('OPTIONS', '{{base}}/pets'),
    { status: 204 },
    { given: 'busy' },
  ),
  ...FAULTS.map(([first, later, code, request, given = 'plain']) =>
    row(`checks ${first} before ${later}`, request, error(code), { given }),
  ),
];
