import { words } from '../samples.js';
import { escaped } from './rows-bodies.js';
import {
  JSON_CONTENT,
  bare,
  by,
  error,
  ok,
  row,
  send,
  type Expectation,
  type Header,
  type RowRequest,
} from './request-row.js';
import type { Situation } from './wire-http.js';

/*
 * Rows for the experimental operations. They share one service, so none of them leaves an animal in another state: the
 * first animal is available, and stays so.
 */

const given: Situation = 'experimental';

/** A row on that service. */
const on = (
  name: string,
  request: RowRequest,
  expect: Expectation,
  options: Parameters<typeof row>[3] = {},
) => row(name, request, expect, { given, ...options });

const SAME = '{"status":"available"}';

/** Changes an animal; `at` is what follows `/pets/`. */
const patch = (body: string, at = '{{pet}}', ...headers: Header[]): RowRequest => ({
  ...send('PATCH', `/pets/${at}`, ['Content-Type', 'application/merge-patch+json'], ...headers),
  body,
});

const remove = (at: string, ...headers: Header[]): RowRequest =>
  send('DELETE', `/pets/${at}`, ...headers);

const patchAs = (...headers: Header[]): RowRequest => ({
  ...send('PATCH', '/pets/{{pet}}', ...headers),
  body: SAME,
});

/** The first animal, unchanged. The headers are those of this operation, not those of the deprecated one on the path. */
const CHANGED: Expectation = {
  status: 200,
  body: '{"id":{{pet}},"name":"Ada","categoryId":-9223372036854775808,"status":"available"}',
  headers: {
    ETag: '{{petTag}}',
    'Cache-Control': 'no-store',
    Deprecation: null,
    Sunset: null,
    Link: null,
  },
};

const ACCEPTED: Readonly<Record<string, RowRequest>> = {
  'a merge patch': patch(SAME),
  JSON: patchAs(JSON_CONTENT),
  'JSON with parameters, in any case': patchAs([
    'Content-Type',
    'Application/Merge-Patch+JSON; charset="UTF-8"',
  ]),
  'a body without a type': patchAs(),
  'the status in any spelling of JSON': patch(` {${escaped('status')} : "available"} `),
  'a name alone': patch('{"name":"Ada"}'),
  'a categoryId alone': patch('{"categoryId":-9223372036854775808}'),
  'every member, with a categoryId that has an exponent': patch(
    '{"name":"\\u0041da","categoryId":-922337203685477580.8e1,"status":"available"}',
  ),
  'the status that the animal has, as from': patch(SAME, '{{pet}}?from=available'),
  'a percent-encoded from': patch(SAME, '{{pet}}?fr%6fm=%61vailable'),
  'unknown parameters': patch(SAME, '{{pet}}?xfrom=sold&froms[]=sold'),
  'the entity tag of the animal': patch(SAME, '{{pet}}', ['If-Match', '{{petTag}}']),
  'the entity tag among others': patch(SAME, '{{pet}}', ['If-Match', '"x" , {{petTag}},W/"y"']),
  'the entity tag beside from': patch(SAME, '{{pet}}?from=available', ['If-Match', '{{petTag}}']),
  'the entity tag among empty members': patch(SAME, '{{pet}}', ['If-Match', ', {{petTag}} ,']),
  'any entity tag': patch(SAME, '{{pet}}', ['If-Match', ' * ']),
  'another entity tag that it must not have': patch(SAME, '{{pet}}', [
    'If-None-Match',
    '"x", W/"y"',
  ]),
  'a managed key with every scope': by('{{managedKey}}', patch(SAME)),
  'a key that may only write': by('{{writeOnlyKey}}', patch(SAME)),
};

const invalid = (message: RegExp): Expectation => error('invalid_pet', { message });

const BODIES: ReadonlyArray<readonly [what: string, body: string, Expectation]> = [
  ['no body', '', error('missing_body')],
  ['what is no JSON', '{"status":"sold",}', error('malformed_json')],
  ['an array', '[]', invalid(/must be a JSON object/)],
  ['null', 'null', invalid(/must be a JSON object/)],
  ['nothing', '{}', invalid(/at least one of name, categoryId, status/)],
  ...words('null 7 "" "\\u0020" "\\u0000" "\\ud800"').map(
    (json) => [`a name of ${json}`, `{"name":${json}}`, invalid(/name must/)] as const,
  ),
  ['a long name', `{"name":"${'x'.repeat(1001)}"}`, invalid(/name must not be longer/)],
  ...words('null "7" 1.5 true 9223372036854775808 1e999999999').map(
    (json) =>
      [`a categoryId of ${json}`, `{"categoryId":${json}}`, invalid(/categoryId must/)] as const,
  ),
  [
    'two invalid members, and names both',
    '{"name":"","status":"gone"}',
    invalid(/name must.*status must/),
  ],
  ...words('null 1 true [] {} "" "Sold" "gone" "sold\\u0000"').map(
    (json) =>
      [`a status of ${json}`, `{"status":${json}}`, invalid(/status must be one of/)] as const,
  ),
  ['a status twice', '{"status":"sold","status":"sold"}', invalid(/status is given twice/)],
  ['an id, and names it', '{"status":"sold","id":1}', invalid(/id cannot be changed/)],
  [
    'every other member, and names them',
    '{"id":1,"Name":"Rex","tag":null}',
    invalid(/^(?=.*id cannot)(?=.*Name cannot)(?=.*tag cannot)(?=.*at least one of)/),
  ],
  ['__proto__', '{"status":"sold","__proto__":{}}', invalid(/__proto__ cannot be changed/)],
  ['deep nesting', `{"status":${'['.repeat(20)}${']'.repeat(20)}}`, invalid(/nested/)],
  ['a large body', `{"status":"${'x'.repeat(70_000)}"}`, error('payload_too_large')],
];

const ACCEPT_PATCH = { 'Accept-Patch': 'application/merge-patch+json, application/json' };

const notFound = error('pet_not_found', { headers: { Deprecation: null } });

const conditionsOf = (
  method: string,
  request: (at: string, ...headers: Header[]) => RowRequest,
) => [
  ...['', ...words('Available gone available,sold * %20sold')].map((from) =>
    on(
      `refuses a ${method} from [${from}]`,
      request(`{{pet}}?from=${from}`),
      error('invalid_parameter', { message: /from must/ }),
    ),
  ),
  on(
    `refuses a ${method} with two statuses to start from`,
    request('{{pet}}?from=available&from=available'),
    error('invalid_parameter', { message: /from .*once/ }),
  ),
  ...words('from[]=sold from%5B%5D=available from[0]=sold&from=available From=sold').map((query) =>
    on(
      `refuses a ${method} with the query ${query}`,
      request(`{{pet}}?${query}`),
      error('invalid_parameter', { message: /from .*spelling, without brackets/ }),
    ),
  ),
  on(
    `answers 409 to a ${method} from another status, and says which it is`,
    request('{{pet}}?from=sold'),
    error('status_conflict', { message: /available/ }),
  ),
  ...['"x"', 'W/{{petTag}}', '{{petTagText}}', '', '{{listTag}}'].map((tag) =>
    on(
      `answers 412 to a ${method} with the entity tag [${tag}]`,
      request('{{pet}}', ['If-Match', tag]),
      error('precondition_failed'),
    ),
  ),
  ...['*', '{{petTag}}', '"x", W/{{petTag}}'].map((tag) =>
    on(
      `answers 412 to a ${method} of an animal that must not have the entity tag [${tag}]`,
      request('{{pet}}', ['If-None-Match', tag]),
      error('precondition_failed', { message: /If-None-Match/ }),
    ),
  ),
  on(
    `says to a ${method} that a weak entity tag never matches`,
    request('{{pet}}', ['If-Match', '"x", W/{{petTag}}']),
    error('precondition_failed', { message: /weak/ }),
  ),
  ...[
    '{{petTagText}}',
    '"{{petTagText}}-gzip"',
    '"{{petTagText}}-br"',
    '"{{petTagText}};gzip"',
  ].map((tag) =>
    on(
      `says to a ${method} that a proxy may have changed the entity tag [${tag}]`,
      request('{{pet}}', ['If-Match', tag]),
      error('precondition_failed', { message: /proxy/ }),
    ),
  ),
  ...['', ' , '].map((tags) =>
    on(
      `says to a ${method} that If-Match has no entity tag [${tags}]`,
      request('{{pet}}', ['If-Match', tags]),
      error('precondition_failed', { message: /empty/ }),
    ),
  ),
  on(
    `blames no proxy for the entity tag of something else, given to a ${method}`,
    request('{{pet}}', ['If-Match', ', {{listTag}},']),
    error('precondition_failed', { message: /^It has changed/ }),
  ),
  on(
    `checks the entity tag before the status of a ${method}`,
    request('{{pet}}?from=sold', ['If-Match', '"x"']),
    error('precondition_failed'),
  ),
  on(
    `checks the status of a ${method} whose entity tag matches`,
    request('{{pet}}?from=sold', ['If-Match', '{{petTag}}']),
    error('status_conflict'),
  ),
  ...words('0 -1 999999999 abc 007 9223372036854775808 1%2F2').map((id) =>
    on(
      `answers 404 to a ${method} of the animal ${id}`,
      request(id, ['If-Match', '"x"']),
      notFound,
    ),
  ),
  on(
    `refuses a ${method} without a key`,
    by(undefined, request('{{pet}}')),
    error('missing_api_key'),
  ),
  on(
    `answers 503 to a ${method} while the store is unreachable`,
    request('1'),
    error('service_unavailable', { headers: { 'Retry-After': '7', Deprecation: null } }),
    { given: 'experimentalUnreachable' },
  ),
  on(
    `answers 405 to a ${method} of an animal where the operation is not served`,
    request('{{pet}}'),
    error('method_not_allowed', { headers: { Allow: 'GET, HEAD, OPTIONS', 'Accept-Patch': null } }),
    { given: 'plain' },
  ),
];

export const CHANGES = [
  ...Object.entries(ACCEPTED).map(([what, request]) =>
    on(`changes an animal by ${what}`, request, CHANGED),
  ),
  ...BODIES.map(([what, body, expect]) => on(`refuses a change of ${what}`, patch(body), expect)),
  on(
    'answers 415 to a change of another media type, and says which to send',
    patchAs(['Content-Type', 'text/plain']),
    error('unsupported_media_type', { headers: ACCEPT_PATCH }),
  ),
  on(
    'answers 415 to a compressed change',
    patch(SAME, '{{pet}}', ['Content-Encoding', 'gzip']),
    error('unsupported_media_type', {
      headers: { ...ACCEPT_PATCH, 'Accept-Encoding': 'identity' },
    }),
  ),
  on(
    'checks where a change starts from before its body',
    patch('', '{{pet}}?from=x'),
    error('invalid_parameter'),
  ),
  on('checks the body of a change before the animal', patch('{}', '0'), error('invalid_pet')),
  on(
    'checks the scope of a change before its parameters',
    by('{{readOnlyKey}}', patch(SAME, '{{pet}}?from=x')),
    error('insufficient_scope', { message: /pets:write/ }),
  ),
  on(
    'refuses to remove an animal for a key that was issued to write',
    by('{{writeOnlyKey}}', remove('{{pet}}')),
    error('insufficient_scope', {
      message: /pets:delete/,
      headers: { 'WWW-Authenticate': /scope="pets:delete"/ },
    }),
  ),
  ...conditionsOf('PATCH', (at, ...headers) => patch(SAME, at, ...headers)),
  ...conditionsOf('DELETE', remove),
  on(
    'names the methods of an animal, and the types of a change',
    bare('OPTIONS', '{{base}}/pets/1'),
    ok({ Allow: 'GET, HEAD, PATCH, DELETE, OPTIONS', ...ACCEPT_PATCH }, 204),
  ),
  on(
    'names every method of the service',
    bare('OPTIONS', '*'),
    ok({ Allow: 'GET, HEAD, POST, PATCH, DELETE, OPTIONS' }, 204),
    { socketOnly: 'a Request has a path' },
  ),
  on('changes an animal also when getPet is removed', patch(SAME, '1'), ok(), {
    given: 'experimentalAlone',
  }),
];
