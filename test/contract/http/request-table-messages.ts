import { JSON_CONTENT, PET, bearer, get, post, send, type Expectation, type Row } from './request-row.js';

const ALLOW = { list: 'GET, HEAD, POST, OPTIONS', get: 'GET, HEAD, OPTIONS' };

const METHODS = ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'PURGE', 'QUERY', 'LINK', 'SEARCH'];

const methods: Row[] = [
  ...METHODS.flatMap((method): Row[] => [
    {
      name: `answers 405 to ${method} /pets`,
      request: send(method, '/pets'),
      expect: { status: 405, code: 'method_not_allowed', headers: { Allow: ALLOW.list } },
      socketOnly: forbiddenToFetch(method),
    },
    {
      name: `answers 405 to ${method} /pets/{petId}`,
      request: send(method, '/pets/{{pet}}'),
      expect: { status: 405, code: 'method_not_allowed', headers: { Allow: ALLOW.get } },
      socketOnly: forbiddenToFetch(method),
    },
  ]),
  {
    name: 'answers 405 to POST /pets/{petId}, and adds nothing',
    request: { ...send('POST', '/pets/{{pet}}', JSON_CONTENT), body: PET },
    expect: { status: 405, code: 'method_not_allowed', headers: { Allow: ALLOW.get }, closes: true },
  },
  {
    name: 'answers 405 to a method for an identifier that is none',
    request: send('DELETE', '/pets/abc'),
    expect: { status: 405, code: 'method_not_allowed', headers: { Allow: ALLOW.get } },
  },
  {
    name: 'answers 404 to any method at a path that is not served',
    request: send('DELETE', '/orders'),
    expect: { status: 404, code: 'route_not_found', headers: { Allow: null } },
  },
  ...['/livez', '/readyz', '/openapi.json'].flatMap((target): Row[] => [
    {
      name: `answers 405 to POST ${target}`,
      request: { method: 'POST', target, headers: [] },
      expect: { status: 405, code: 'method_not_allowed', headers: { Allow: ALLOW.get } },
    },
    {
      name: `answers HEAD ${target}`,
      request: { method: 'HEAD', target, headers: [] },
      expect: { status: 200 },
    },
    {
      name: `tells the methods of ${target}`,
      request: { method: 'OPTIONS', target, headers: [] },
      expect: { status: 204, headers: { Allow: ALLOW.get } },
    },
  ]),
  {
    name: 'answers 405 to CONNECT, naming the methods there are',
    request: { raw: 'CONNECT {{host}} HTTP/1.1\r\nHost: {{host}}\r\n\r\n' },
    expect: { status: 405, code: 'method_not_allowed', headers: { Allow: /GET.*POST/ }, closes: true },
    socketOnly: 'clients send CONNECT to proxies only',
  },
  {
    name: 'does not let a header change the method',
    request: post(PET, ['X-HTTP-Method-Override', 'DELETE'], ['X-Method-Override', 'GET']),
    expect: { status: 201 },
  },
];

function forbiddenToFetch(method: string): string | undefined {
  return method === 'TRACE' ? 'a Request must not be a TRACE' : undefined;
}

const accepts: Row[] = ['text/html', 'application/xml', 'application/json;q=0', 'image/*, */*;q=0', ''].map(
  (accept) => ({
    name: `answers in JSON to a client that accepts ${accept === '' ? 'nothing' : accept}`,
    request: get('/pets/{{pet}}', ['Accept', accept]),
    expect: { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' } },
  }),
);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const requestIds: Row[] = [
  ...['a', 'Req_42.a-b', '0', 'x'.repeat(128)].map((id): Row => ({
    name: `keeps a request id of ${id.length > 20 ? `${id.length} characters` : id}`,
    request: get('/pets?limit=1', ['X-Request-Id', id]),
    expect: { status: 200, headers: { 'X-Request-Id': id } },
  })),
  ...(
    [
      ['that is empty', ''],
      ['of 129 characters', 'x'.repeat(129)],
      ['with a space', 'a b'],
      ['with a slash', 'a/b'],
      ['with quotes', '"a"'],
      ['with a letter of another script', 'Ã©'],
      ['with a brace for a template', '{a}'],
      ['with an escape for a terminal', 'a%1b[31m'],
    ] as const
  ).map(([what, id]): Row => ({
    name: `makes a new request id for one ${what}`,
    request: get('/pets?limit=1', ['X-Request-Id', id]),
    expect: { status: 200, headers: { 'X-Request-Id': UUID } },
  })),
  {
    name: 'makes a new request id for two that are sent',
    request: get('/pets?limit=1', ['X-Request-Id', 'a'], ['X-Request-Id', 'b']),
    expect: { status: 200, headers: { 'X-Request-Id': UUID } },
  },
  {
    name: 'makes a request id where none is sent',
    request: post('{}'),
    expect: { status: 400, code: 'invalid_pet', headers: { 'X-Request-Id': UUID } },
  },
  {
    name: 'keeps the request id of a path that is not served',
    request: { method: 'GET', target: '/nowhere', headers: [['X-Request-Id', 'nowhere']] },
    expect: { status: 404, code: 'route_not_found', headers: { 'X-Request-Id': 'nowhere' } },
  },
  {
    name: 'keeps the request id of a request with two Host headers',
    request: {
      raw: 'GET {{base}}/pets HTTP/1.1\r\nHost: a\r\nHost: b\r\nX-Request-Id: two-hosts\r\n\r\n',
    },
    expect: { status: 400, code: 'malformed_request', headers: { 'X-Request-Id': 'two-hosts' } },
    socketOnly: 'clients send one Host',
  },
  {
    name: 'keeps the request id of a request whose body is not well-formed',
    request: {
      raw: `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {{key}}\r\nX-Request-Id: bad-chunk\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    },
    expect: { status: 400, code: 'malformed_request', headers: { 'X-Request-Id': 'bad-chunk' } },
    socketOnly: 'clients write chunks that are well-formed',
  },
  {
    name: 'keeps the request id of a pipelined request whose body is not well-formed',
    request: {
      raw: `GET {{base}}/pets?limit=1 HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {{key}}\r\n\r\nPOST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nX-Request-Id: bad-chunk\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    },
    expect: {
      status: 200,
      further: [{ status: 400, code: 'malformed_request', headers: { 'X-Request-Id': 'bad-chunk' } }],
    },
    socketOnly: 'clients write chunks that are well-formed',
  },
  {
    name: 'keeps the request id of CONNECT',
    request: { raw: 'CONNECT {{host}} HTTP/1.1\r\nHost: {{host}}\r\nX-Request-Id: tunnel\r\n\r\n' },
    expect: { status: 405, code: 'method_not_allowed', headers: { 'X-Request-Id': 'tunnel' } },
    socketOnly: 'clients send CONNECT to proxies only',
  },
];

const ignored: Row[] = [
  {
    name: 'says where an animal is whatever a proxy says of the address',
    request: post(
      PET,
      ['X-Forwarded-Host', 'evil.example'],
      ['X-Forwarded-Proto', 'https'],
      ['Forwarded', 'host=evil'],
    ),
    expect: { status: 201, headers: { Location: /^\/v1\/pets\/\d+$/ } },
  },
  {
    name: 'says where the next page is whatever the Host is',
    request: get('/pets?limit=1', ['Host', 'evil.example']),
    expect: { status: 200, headers: { Link: /^<\/v1\/pets\?/ } },
  },
  {
    name: 'does not let a proxy header change the path',
    request: get('/pets?limit=1', ['X-Original-URL', '/v1/orders'], ['X-Rewrite-URL', '/v1/orders']),
    expect: { status: 200 },
  },
  {
    name: 'gives all of a list to a client that asks for a range',
    request: get('/pets/{{pet}}', ['Range', 'bytes=0-3']),
    expect: { status: 200, headers: { 'Content-Range': null } },
  },
  {
    name: 'lets no other origin read its answers, unless told to',
    request: get('/pets?limit=1', ['Origin', 'https://elsewhere.example']),
    expect: { status: 200, headers: { 'Access-Control-Allow-Origin': null } },
  },
  {
    name: 'stays with HTTP/1.1 when asked for another protocol',
    request: get(
      '/pets?limit=1',
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Upgrade', 'h2c'],
      ['HTTP2-Settings', ''],
    ),
    expect: { status: 200, headers: { Upgrade: null } },
    socketOnly: 'the header Connection is for whoever listens',
  },
];

const AWAY: Expectation = { status: 503, code: 'service_unavailable', headers: { 'Retry-After': '7' } };

const faults: Row[] = [
  {
    name: 'answers 503 to listPets while the store is away',
    given: 'storeAway',
    request: get('/pets'),
    expect: AWAY,
  },
  {
    name: 'answers 503 to getPet while the store is away',
    given: 'storeAway',
    request: get('/pets/1'),
    expect: AWAY,
  },
  {
    name: 'answers 503 to createPet while the store is away',
    given: 'storeAway',
    request: post(PET),
    expect: AWAY,
  },
  {
    name: 'is not ready while the store is away, in the shape of an error',
    given: 'storeAway',
    request: { method: 'GET', target: '/readyz', headers: [] },
    expect: AWAY,
  },
  {
    name: 'is alive while the store is away',
    given: 'storeAway',
    request: { method: 'GET', target: '/livez', headers: [] },
    expect: { status: 200 },
  },
  {
    name: 'looks at keys while the store of animals is away',
    given: 'storeAway',
    request: { method: 'GET', target: '{{base}}/pets', headers: [] },
    expect: { status: 401, code: 'missing_api_key' },
  },
  ...[get('/pets'), get('/pets/1'), post(PET)].map((request): Row => ({
    name: `answers 500 to ${request.method} ${request.target.replace('{{base}}', '')} after a fault nobody expected, telling the request id and nothing of its inside`,
    given: 'storeFaulty',
    request: { ...request, headers: [...request.headers, ['X-Request-Id', 'fault-1']] },
    expect: { status: 500, code: 'internal_error', message: /^(?=.*fault-1)(?!.*secret)(?!.*TypeError)/ },
  })),
  {
    name: 'tells nothing of the inside while the store is away',
    given: 'storeAway',
    request: get('/pets'),
    expect: { ...AWAY, message: /^(?!.*secret)(?!.*listing)/ },
  },
  ...[get('/pets'), get('/pets/1'), post(PET)].map((request): Row => ({
    name: `answers 503 to ${request.method} ${request.target.replace('{{base}}', '')} when its time is over`,
    given: 'storeStuck',
    request,
    expect: {
      status: 503,
      code: 'service_unavailable',
      headers: { 'Retry-After': '1' },
      within: 4000,
    },
  })),
  {
    name: 'answers 503 at once to what is too much at once',
    given: 'busy',
    request: get('/pets'),
    expect: { status: 503, code: 'service_unavailable', headers: { 'Retry-After': '1' }, within: 3000 },
  },
  {
    name: 'adds nothing that is too much at once, and does not read it',
    given: 'busy',
    request: post(PET),
    expect: { status: 503, code: 'service_unavailable', closes: true },
  },
  {
    name: 'is alive while it is busy',
    given: 'busy',
    request: { method: 'GET', target: '/livez', headers: [] },
    expect: { status: 200 },
  },
  {
    name: 'is ready while it is busy',
    given: 'busy',
    request: { method: 'GET', target: '/readyz', headers: [] },
    expect: { status: 200 },
  },
  {
    name: 'answers 415 before it would ask a store that is away',
    given: 'storeAway',
    request: { ...send('POST', '/pets', ['Content-Type', 'text/plain']), body: PET },
    expect: { status: 415, code: 'unsupported_media_type' },
  },
  {
    name: 'answers 401 to every key that is none, whatever the store does',
    given: 'storeFaulty',
    request: { method: 'GET', target: '{{base}}/pets', headers: [bearer('nobody')] },
    expect: { status: 401, code: 'invalid_api_key' },
  },
];

export const MESSAGES: readonly Row[] = [...methods, ...accepts, ...requestIds, ...ignored, ...faults];
