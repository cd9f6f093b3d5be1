import assert from 'node:assert/strict';
import { words } from '../samples.js';
import {
  PET,
  rows,
  authorized,
  withKey,
  created,
  error,
  get,
  post,
  row,
  type Header,
  type RowRequest,
  type Topic,
} from './row.js';
import { KEYS } from './service-parts.js';
import type { TestedService } from './tested-service.js';

const invalid = (message: RegExp) => error(400, 'invalid_pet', { message });

const named = (json: string) => post(`{"name":${json},"categoryId":7}`);
const categorised = (json: string) => post(`{"name":"Bella","categoryId":${json}}`);
const withStatus = (json: string) => post(`{"name":"Bella","categoryId":7,"status":${json}}`);
/** A valid animal with these members before its own. */
const beside = (members: string) => post(`{${members},"name":"Bella","categoryId":7}`);
const nested = (depth: number) => beside(`"x":${'['.repeat(depth)}1${']'.repeat(depth)}`);

const keyed = (key: string): Header => ['Idempotency-Key', key];

async function createExpecting(service: TestedService, status: number, request: RowRequest) {
  const response = await service.send(request);
  assert.equal(response.status, status, `${JSON.stringify(request)} got ${response.body}`);
  return response;
}

/** Adding an animal. */
export const CREATING: readonly Topic[] = [
  {
    topic: 'a new animal',
    rules: {
      'keeps a name exactly': [
        ...words('"e\u0301" "\ufeffa"').map((name) => row(named(name), created(name))),
        row(named('"  Bella  "'), created('"  Bella  "')),
        row(named('"\\ud83d\\udc08\\u0041"'), created('"🐈A"')),
        row(named('"\\ufffd"'), created('"\ufffd"')),
        row(named(`"${'🐈'.repeat(1000)}"`), created(`"${'🐈'.repeat(1000)}"`)),
      ],
      'refuses a name that is blank, not text or not Unicode': rows(
        invalid(/name must/),
        ...words('"\u00a0\\n" null 7 "a\\u0000b" "\\ud83d"').map(named),
      ),
      'refuses a name of more than 1000 characters': rows(
        invalid(/name must not be longer than 1000 characters/),
        named(`"${'n'.repeat(1001)}"`),
        named(`"${'🐈'.repeat(1001)}"`),
      ),
      'keeps a categoryId to the digit': words(
        '9007199254740993 9223372036854775807 -9223372036854775808',
      ).map((id) => row(categorised(id), created('"Bella"', id))),
      'takes other spellings of integers': [
        row(categorised('7.0'), created('"Bella"', '7')),
        row(categorised('7e2'), created('"Bella"', '700')),
        row(categorised('-0'), created('"Bella"', '0')),
      ],
      'refuses a categoryId that is not an int64': rows(
        invalid(/categoryId must/),
        ...words('1.5 9223372036854775808 9.2e18 9.223372036854775807e18 1e999999999 "7" null').map(
          categorised,
        ),
      ),
      'keeps a status; the default is available': [
        row(post(PET), created('"Bella"', '7', '"available"')),
        ...words('"pending" "sold"').map((status) =>
          row(withStatus(status), created('"Bella"', '7', status)),
        ),
      ],
      'refuses any other status': rows(
        invalid(/status must be one of available, pending, sold/),
        ...words('null "" "Available"').map(withStatus),
      ),
      'names every fault': [
        row(post('{}'), invalid(/^(?=.*name is required)(?=.*categoryId is required)(?!.*status)/)),
        row(
          post('{"name":" ","categoryId":1.5,"status":"gone"}'),
          invalid(/^(?=.*name must)(?=.*categoryId must)(?=.*status must)/),
        ),
      ],
    },
  },
  {
    topic: 'the body of a create',
    rules: {
      'may have members in any order, white space and escapes': [
        row(post(' \t\r\n{ "categoryId" : 7 ,"name":"Bella"\r}\n'), created()),
      ],
      'may have other members, which are ignored': rows(
        created(),
        beside('"id":1'),
        beside('"_id":{"$oid":"0"},"Name":"x","":1e999,"x":"\\ud83d"'),
        beside('"__proto__":{"status":"sold","name":"x"}'),
        nested(17),
      ),
      'may have a member twice: the last counts': [
        row(post('{"name":"Ada","name":"Bella","categoryId":7}'), created()),
      ],
      'has the fields itself, not in __proto__': [
        row(post('{"__proto__":{"name":"Bella","categoryId":7}}'), invalid(/name is required/)),
      ],
      'is refused if it is JSON but not an object': rows(
        error(400, 'invalid_pet'),
        ...words('[] null "{}"').map((json) => post(json)),
      ),
      'is refused if it is not JSON': rows(
        error(400, 'malformed_json'),
        post(' \r\n\t '),
        post('{"name":"Bella","categoryId":7'),
        post('{"name":"Bella","categoryId":7,}'),
      ),
      'is refused if it is too deep': rows(error(400, 'malformed_json'), nested(30_000)),
      'is refused if it is empty, whatever its type': rows(
        error(400, 'missing_body', { message: /^The request needs a JSON body\.$/ }),
        post(''),
        authorized('POST', '/pets'),
      ),
    },
  },
  {
    topic: 'an idempotency key',
    rules: {
      'has 1 to 255 visible characters': words(
        `a ${'k'.repeat(255)} !#$%&'()*+,-./0:;<=>?@A[]^_\`a{|}~ "quoted"`,
      ).map((key) => row(post(PET, keyed(key)), created())),
      'is refused if it is anything else': rows(
        error(400, 'invalid_parameter', { message: /Idempotency-Key/ }),
        ...['', 'k'.repeat(256), 'one two', '"one"; a=1'].map((key) => post(PET, keyed(key))),
      ),
      'means nothing to other operations': rows({ status: 200 }, get('/pets', keyed('not one'))),
      async 'replays the first response, and refuses another animal with 422'(service) {
        const first = await createExpecting(service, 201, post(PET, keyed('once')));
        assert.equal(first.headers.get('Idempotency-Replayed'), null);
        const others = ['{"name":"bella","categoryId":7}', PET.replace('}', ',"status":"sold"}')];
        const respelled = '{"categoryId":7.0, "id":4, "status":"available", "name":"\\u0042ella"}';

        for (const request of [
          post(PET, keyed('once')),
          post(PET, keyed('"once"')),
          post(respelled, keyed('once')),
        ]) {
          for (const other of others) {
            const refused = await createExpecting(service, 422, post(other, keyed('once')));
            assert.match(refused.body, /"code":"idempotency_key_reused"/);
          }
          const replay = await createExpecting(service, 201, request);
          assert.equal(replay.body, first.body);
          assert.equal(replay.headers.get('Location'), first.headers.get('Location'));
          assert.equal(replay.headers.get('Idempotency-Replayed'), 'true');
        }
        assert.equal((await service.animals()).length, 6);
      },
      async 'belongs to its API key'(service) {
        for (const [index, key] of [KEYS.all, KEYS.second, KEYS.writer].entries()) {
          const { body } = await createExpecting(
            service,
            201,
            withKey(key, post(PET, keyed('mine'))),
          );
          assert.match(body, new RegExp(`^\\{"id":${6 + index},`));
        }
      },
      async 'is not used up by a request that is refused'(service) {
        await createExpecting(service, 400, post('{}', keyed('mended')));
        await createExpecting(service, 400, post('{', keyed('mended')));
        await createExpecting(service, 403, withKey(KEYS.reader, post(PET, keyed('mended'))));

        const { headers } = await createExpecting(service, 201, post(PET, keyed('mended')));
        assert.equal(headers.get('Idempotency-Replayed'), null);
        await createExpecting(service, 400, post('{}', keyed('mended')));
        const replay = await createExpecting(service, 201, post(PET, keyed('mended')));
        assert.equal(replay.headers.get('Idempotency-Replayed'), 'true');
      },
    },
  },
  {
    topic: 'a create whose key is in progress',
    store: 'undecided',
    rules: {
      'is told when to retry': [
        row(
          post(PET, keyed('undecided')),
          error(409, 'idempotency_conflict', { headers: { 'Retry-After': '3' } }),
        ),
      ],
    },
  },
  {
    topic: 'a create at a public address',
    settings: { publicUrl: 'https://animals.example/shop/v1' },
    rules: {
      'says where the animal is': [
        row(post(PET), {
          status: 201,
          headers: { Location: 'https://animals.example/shop/v1/pets/6' },
        }),
      ],
    },
  },
];
