import { JSON_CONTENT, bearer, get, send, type Header, type Row } from './request-row.js';

/** Several faults at once: the first in the order of the checks is answered. */
export const ORDER_OF_CHECKS: readonly Row[] = [
  {
    name: 'keeps the request id of a request without a key',
    request: { method: 'GET', target: '{{base}}/pets', headers: [['X-Request-Id', 'mine-1']] },
    expect: { status: 401, code: 'missing_api_key', headers: { 'X-Request-Id': 'mine-1' } },
  },
  {
    name: 'answers OPTIONS before it refuses for being busy',
    given: 'busy',
    request: { method: 'OPTIONS', target: '{{base}}/pets', headers: [] },
    expect: { status: 204 },
  },
  {
    name: 'refuses for being busy before it looks at the key',
    given: 'busy',
    request: { method: 'GET', target: '{{base}}/pets', headers: [] },
    expect: { status: 503, code: 'service_unavailable', headers: { 'Retry-After': '1' } },
  },
  {
    name: 'refuses for being busy before it looks at the path',
    given: 'busy',
    request: get('/orders'),
    expect: { status: 503, code: 'service_unavailable' },
  },
  {
    name: 'looks at the key before the path',
    request: { method: 'GET', target: '{{base}}/orders', headers: [bearer('nobody')] },
    expect: { status: 401, code: 'invalid_api_key' },
  },
  {
    name: 'looks at the key before the method',
    request: { method: 'PUT', target: '{{base}}/pets', headers: [] },
    expect: { status: 401, code: 'missing_api_key', headers: { Allow: null } },
  },
  {
    name: 'looks at the method before whether the operation is removed',
    given: 'getPetOff',
    request: send('DELETE', '/pets/1'),
    expect: { status: 405, code: 'method_not_allowed' },
  },
  {
    name: 'looks at the key before whether the operation is removed',
    given: 'getPetOff',
    request: { method: 'GET', target: '{{base}}/pets/1', headers: [] },
    expect: { status: 401, code: 'missing_api_key' },
  },
  {
    name: 'looks at whether the operation is removed before the scope',
    given: 'getPetOff',
    request: { method: 'GET', target: '{{base}}/pets/1', headers: [bearer('{{writeOnlyKey}}')] },
    expect: { status: 410, code: 'operation_removed' },
  },
  {
    name: 'looks at whether the operation is removed before the identifier',
    given: 'getPetOff',
    request: get('/pets/abc'),
    expect: { status: 410, code: 'operation_removed' },
  },
  {
    name: 'looks at the method before the scope',
    request: { method: 'PUT', target: '{{base}}/pets', headers: [bearer('{{readOnlyKey}}')] },
    expect: { status: 405, code: 'method_not_allowed' },
  },
  {
    name: 'looks at the scope before the parameters',
    request: { method: 'GET', target: '{{base}}/pets?limit=0', headers: [bearer('{{writeOnlyKey}}')] },
    expect: { status: 403, code: 'insufficient_scope' },
  },
  {
    name: 'looks at the scope before the identifier',
    request: { method: 'GET', target: '{{base}}/pets/abc', headers: [bearer('{{writeOnlyKey}}')] },
    expect: { status: 403, code: 'insufficient_scope' },
  },
  {
    name: 'looks at the scope before whether there is a body',
    request: { method: 'POST', target: '{{base}}/pets', headers: [bearer('{{readOnlyKey}}')] },
    expect: { status: 403, code: 'insufficient_scope' },
  },
  {
    name: 'looks at the parameters before the cursor',
    request: get('/pets?limit=0&cursor=x'),
    expect: { status: 400, code: 'invalid_parameter' },
  },
  ...(
    [
      ['Content-Type', 'text/plain'],
      ['Content-Encoding', 'gzip'],
      ['Content-Type', 'application/json; charset=latin1'],
    ] satisfies Header[]
  ).flatMap(([name, value]): Row[] => [
    {
      name: `looks at whether there is a body before its ${name}: ${value}`,
      request: { ...send('POST', '/pets', [name, value]), body: '' },
      expect: { status: 400, code: 'missing_body' },
    },
    {
      name: `looks at whether there is a body, announced as chunks, before its ${name}: ${value}`,
      request: { ...send('POST', '/pets', [name, value]), body: '', chunked: true },
      expect: { status: 400, code: 'missing_body' },
    },
  ]),
  {
    name: 'looks at the media type before the size of the body',
    request: { ...send('POST', '/pets', ['Content-Type', 'text/plain']), body: 'x'.repeat(300_000) },
    expect: { status: 415, code: 'unsupported_media_type', closes: true },
  },
  {
    name: 'looks at the media type before the size of the body in chunks',
    request: {
      ...send('POST', '/pets', ['Content-Type', 'text/plain']),
      body: 'x'.repeat(300_000),
      chunked: true,
    },
    expect: { status: 415, code: 'unsupported_media_type', closes: true },
  },
  {
    name: 'looks at the media type before the syntax of the body',
    request: { ...send('POST', '/pets', ['Content-Type', 'text/plain']), body: '{' },
    expect: { status: 415, code: 'unsupported_media_type' },
  },
  {
    name: 'looks at the encoding before the size of the body',
    request: {
      ...send('POST', '/pets', JSON_CONTENT, ['Content-Encoding', 'br']),
      body: 'x'.repeat(300_000),
    },
    expect: { status: 415, code: 'unsupported_media_type' },
  },
  {
    name: 'looks at the size of the body before its charset',
    request: {
      ...send('POST', '/pets', ['Content-Type', 'application/json; charset=latin1']),
      body: 'x'.repeat(300_000),
    },
    expect: { status: 413, code: 'payload_too_large' },
  },
  {
    name: 'looks at the size of the body before its syntax',
    request: { ...send('POST', '/pets', JSON_CONTENT), body: '{'.repeat(300_000) },
    expect: { status: 413, code: 'payload_too_large' },
  },
  {
    name: 'looks at the syntax before the fields',
    request: { ...send('POST', '/pets', JSON_CONTENT), body: '{"name":"","categoryId":1.5,}' },
    expect: { status: 400, code: 'malformed_json' },
  },
  {
    name: 'looks at the syntax to the end before duplicate members',
    request: { ...send('POST', '/pets', JSON_CONTENT), body: '{"name":"a","name":"b","categoryId":1}}' },
    expect: { status: 400, code: 'malformed_json' },
  },
  {
    name: 'looks at the syntax to the end before the depth',
    request: {
      ...send('POST', '/pets', JSON_CONTENT),
      body: `{"name":"a","categoryId":1,"x":${'['.repeat(60_000)}1${']'.repeat(59_999)}}`,
    },
    expect: { status: 400, code: 'malformed_json' },
  },
  {
    name: 'looks at the fields before it asks the store',
    given: 'storeAway',
    request: { ...send('POST', '/pets', JSON_CONTENT), body: '{}' },
    expect: { status: 400, code: 'invalid_pet' },
  },
  {
    name: 'looks at the parameters before it asks the store',
    given: 'storeAway',
    request: get('/pets?limit=101'),
    expect: { status: 400, code: 'invalid_parameter' },
  },
  {
    name: 'looks at the identifier before it asks the store',
    given: 'storeAway',
    request: get('/pets/abc'),
    expect: { status: 404, code: 'pet_not_found' },
  },
];
