import assert from 'node:assert/strict';
import { words } from '../samples.js';
import {
  JSON_TYPE,
  PET,
  rows,
  authorized,
  requestTo,
  withKey,
  error,
  get,
  ok,
  post,
  row,
  type Header,
  type RowRequest,
  type Topic,
} from './row.js';
import { KEYS } from './service-parts.js';
import type { TestedService } from './tested-service.js';

const PATCH_TYPE: Header = ['Content-Type', 'application/merge-patch+json'];

const PATCH_TYPES = { 'Accept-Patch': 'application/merge-patch+json, application/json' };

const patchAs = (type: Header): RowRequest => ({
  ...authorized('PATCH', '/pets/1', type),
  body: '{"status":"sold"}',
});

/** Changes the first animal, which is available. */
const patch = (body: string, query = '', ...headers: Header[]): RowRequest => ({
  ...authorized('PATCH', `/pets/1${query}`, PATCH_TYPE, ...headers),
  body,
});
const sell = (query = '', ...headers: Header[]) => patch('{"status":"sold"}', query, ...headers);
const remove = (query = '', ...headers: Header[]) =>
  authorized('DELETE', `/pets/1${query}`, ...headers);

const changed = (name: string, categoryId: string, status: string) =>
  ok(`{"id":1,"name":"${name}","categoryId":${categoryId},"status":"${status}"}`);
const SOLD = changed('Ada', '-9223372036854775808', 'sold');

const invalid = (message: RegExp) => error(400, 'invalid_pet', { message });

/** The same call of both operations. */
const both = (...given: Parameters<typeof sell>) => [sell(...given), remove(...given)];

/** The statuses of eight requests at once. */
async function statusesOf({ send }: TestedService, request: RowRequest) {
  const responses = await Promise.all(Array.from({ length: 8 }, () => send(request)));
  return responses.map(({ status }) => status).sort((one, other) => one - other);
}

/** The experimental operations. */
export const CHANGING: readonly Topic[] = [
  {
    topic: 'changing and removing animals',
    settings: { experimental: ['changePet', 'removePet'] },
    rules: {
      'changes what the body has': [
        row(sell(), SOLD),
        row(patch('{"name":"\\u0041nn"}'), changed('Ann', '-9223372036854775808', 'available')),
        row(patch('{"categoryId":7.0}'), changed('Ada', '7', 'available')),
        row(
          patch('{"name":"B","categoryId":9223372036854775807,"status":"pending"}'),
          changed('B', '9223372036854775807', 'pending'),
        ),
      ],
      'takes JSON of two types': rows(
        SOLD,
        patchAs(JSON_TYPE),
        patchAs(['Content-Type', 'Application/Merge-Patch+JSON; charset=utf-8']),
      ),
      'refuses other bodies': [
        row(patch(''), error(400, 'missing_body')),
        row(
          patchAs(['Content-Type', 'text/plain']),
          error(415, 'unsupported_media_type', { headers: PATCH_TYPES }),
        ),
        row(patch(`{"name":"${'x'.repeat(70_000)}"}`), error(413, 'payload_too_large')),
        row(patch('[]'), error(400, 'invalid_pet')),
      ],
      'refuses values that a new animal may not have, and a body with none': [
        row(patch('{"name":null}'), invalid(/name must/)),
        row(patch('{"categoryId":9223372036854775808}'), invalid(/categoryId must/)),
        row(patch('{"status":"Sold"}'), invalid(/status must be one of/)),
        row(patch('{}'), invalid(/at least one of name, categoryId, status/)),
        row(patch('{"id":1,"tag":null}'), invalid(/at least one of/)),
      ],
      'ignores other members': [row(patch('{"status":"sold","id":1}'), SOLD)],
      'with ?from=STATUS changes only an animal with that status': [
        row(sell('?from=available'), SOLD),
        row(sell('?fr%6fm=%61vailable&utm=1'), SOLD),
        row(remove('?from=available'), { status: 204 }),
        ...rows(error(409, 'status_conflict', { message: /available/ }), ...both('?from=sold')),
        ...rows(
          error(400, 'invalid_parameter', { message: /from / }),
          ...words('from=gone from[]=sold from=sold&from=sold').flatMap((query) =>
            both(`?${query}`),
          ),
        ),
      ],
      'refuses an entity tag but not *, and says what to send instead': [
        ...rows(
          error(412, 'precondition_failed', { message: /\?from=STATUS/ }),
          ...both('', ['If-Match', '"x"']),
        ),
        row(sell('', ['If-None-Match', '*']), SOLD),
        row(sell('', ['If-Match', '*']), SOLD),
        row(remove('', ['If-Match', '*']), { status: 204 }),
      ],
      'finds no animal by another id': rows(
        error(404, 'pet_not_found'),
        { ...sell(), path: '/v1/pets/999' },
        { ...remove(), path: '/v1/pets/999' },
        { ...sell(), path: '/v1/pets/abc' },
      ),
      'needs the scopes pets:write and pets:delete': [
        row(withKey(KEYS.writer, sell()), SOLD),
        ...both().map((request) => row(withKey(undefined, request), error(401, 'missing_api_key'))),
        row(
          withKey(KEYS.reader, sell()),
          error(403, 'insufficient_scope', { headers: { 'WWW-Authenticate': /pets:write/ } }),
        ),
        row(
          withKey(KEYS.writer, remove()),
          error(403, 'insufficient_scope', { headers: { 'WWW-Authenticate': /pets:delete/ } }),
        ),
      ],
      'lists both methods in Allow': [
        row(requestTo('OPTIONS', '/v1/pets/1'), {
          status: 204,
          headers: { Allow: 'GET, HEAD, PATCH, DELETE, OPTIONS', ...PATCH_TYPES },
        }),
      ],
      async 'sells an animal once, and changes what a client has of it'(service) {
        const animal = get('/pets/1');
        const before = await service.send(animal);

        const statuses = await statusesOf(service, sell('?from=available'));

        assert.deepEqual(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
        const tag = before.headers.get('ETag') ?? '';
        const { status, body } = await service.send(get('/pets/1', ['If-None-Match', tag]));
        assert.deepEqual([status, body], [200, before.body.replace('available', 'sold')]);
      },
      async 'keeps simultaneous changes of different members'(service) {
        const bodies = ['{"name":"Rex"}', '{"categoryId":8}', '{"status":"sold"}'];
        await Promise.all(bodies.map((body) => service.send(patch(body))));
        const { body } = await service.send(get('/pets/1'));
        assert.equal(body, '{"id":1,"name":"Rex","categoryId":8,"status":"sold"}');
      },
      async 'removes an animal once and for all, and replays its create'(service) {
        const create = post(PET, ['Idempotency-Key', 'removed']);
        const created = await service.send(create);
        const removal = authorized('DELETE', '/pets/6');

        const statuses = await statusesOf(service, removal);

        assert.deepEqual(statuses, [204, 404, 404, 404, 404, 404, 404, 404]);
        assert.equal((await service.send(get('/pets/6'))).status, 404);
        const replay = await service.send(create);
        assert.deepEqual([replay.status, replay.body], [201, created.body]);
        assert.equal((await service.animals()).length, 5);
        const { body } = await service.send(post(PET));
        assert.doesNotMatch(body, /^\{"id":6,/, 'the id of another animal');
      },
    },
  },
  {
    topic: 'an experimental operation alone',
    settings: { experimental: ['changePet'] },
    rules: {
      'is served without the other': [
        row(sell(), SOLD),
        row(
          remove(),
          error(405, 'method_not_allowed', { headers: { Allow: 'GET, HEAD, PATCH, OPTIONS' } }),
        ),
      ],
    },
  },
  {
    topic: 'changing an animal while the store is unreachable',
    settings: { experimental: ['changePet', 'removePet'] },
    store: 'unreachable',
    rules: {
      'is answered with 503': rows(
        error(503, 'service_unavailable', { headers: { 'Retry-After': '7' } }),
        ...both(),
      ),
    },
  },
];
