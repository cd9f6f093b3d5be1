import assert from 'node:assert/strict';
import { words } from '../samples.js';
import {
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
  type Topic,
} from './row.js';
import { KEYS } from './service-parts.js';
import type { TestedService } from './tested-service.js';

const ADA = '{"id":1,"name":"Ada","categoryId":-9223372036854775808,"status":"available"}';
const BO = '{"id":2,"name":"Bo","categoryId":0,"status":"pending"}';
const CY = '{"id":3,"name":"Cy","categoryId":9007199254740993,"status":"sold"}';
const DI = '{"id":4,"name":"Di","categoryId":9223372036854775807,"status":"available"}';
const ED = '{"id":5,"name":"Ed","categoryId":4,"status":"sold"}';

const list = (...animals: string[]): string => `[${animals.join(',')}]`;
const invalid = (message: RegExp) => error(400, 'invalid_parameter', { message });
const next = (query: string) => `<?${query}>; rel="next"`;
const ifNoneMatch = (tag: string): Header => ['If-None-Match', tag];

/** The values of a parameter as lists; an empty value first. */
const listsWith = (parameter: string, values: string) =>
  ['', ...words(values)].map((value) => get(`/pets?${parameter}=${value}`));

/** The ids in a body, as text: an int64 does not survive JSON.parse. */
const idsOf = (body: string): string[] =>
  Array.from(body.matchAll(/\{"id":(\d+),/g), ([, id = '']) => id);

/** The bodies of all pages, along their links. */
async function pagesFrom({ send }: TestedService, path: string): Promise<string[]> {
  const bodies: string[] = [];
  let at: string | undefined = path;
  while (at !== undefined) {
    const page = await send(get(at));
    assert.equal(page.status, 200, `the status of ${at}`);
    bodies.push(page.body);
    const link = /^<([^<>]+)>; rel="next"$/.exec(page.headers.get('Link') ?? '')?.[1];
    at = link && `/pets${new URL(link, 'http://any/v1/pets').search}`;
    assert.ok(bodies.length < 100, 'the links do not end');
  }
  return bodies;
}

/** Listing and getting animals. */
export const READING: readonly Topic[] = [
  {
    topic: 'listing animals',
    rules: {
      'returns a bare array in ascending order of id': [
        row(get('/pets'), ok(list(ADA, BO, CY, DI, ED), { Link: null })),
        row(get('/pets?limit=2'), ok(list(ADA, BO))),
      ],
      'filters by status': [
        row(get('/pets?status=available'), ok(list(ADA, DI))),
        row(get('/pets?status=pending'), ok(list(BO))),
        row(get('/pets?limit=100&status=sold'), ok(list(CY, ED))),
      ],
      'starts after any int64': [
        row(get('/pets?after=-9223372036854775808&limit=1'), ok(list(ADA))),
        row(get('/pets?after=9223372036854775807'), ok('[]', { Link: null })),
      ],
      'links to the next page while there is one': [
        row(get('/pets?limit=1'), ok(list(ADA), { Link: next('limit=1&after=1') })),
        row(
          get('/pets?limit=1&status=sold'),
          ok(list(CY), { Link: next('limit=1&status=sold&after=3') }),
        ),
        row(get('/pets?limit=1&status=sold&after=3'), ok(list(ED), { Link: null })),
        row(get('/pets?utm=1&%6Cimit=1'), ok(list(ADA), { Link: next('limit=1&after=1') })),
      ],
      'refuses a limit that is not an integer from 1 to 100': rows(
        invalid(/limit .*1 to 100/),
        ...listsWith('limit', '0 101 1.5 05'),
      ),
      'refuses a status that does not exist': rows(
        invalid(/status .*available, pending, sold/),
        ...listsWith('status', 'unknown Available'),
      ),
      'refuses to start after anything but an int64': rows(
        invalid(/after .*64-bit integer/),
        ...listsWith('after', 'abc 9223372036854775808'),
      ),
      'refuses a parameter that is given twice': [
        row(get('/pets?limit=5&limit=5'), invalid(/limit /)),
        row(get('/pets?status=sold&status=pending'), invalid(/status /)),
        row(get('/pets?after=1&limit=1&after=2'), invalid(/after /)),
      ],
      'refuses another spelling of a parameter, which it would otherwise ignore': [
        row(get('/pets?Status=sold'), invalid(/status /)),
        row(get('/pets?status[]=sold'), invalid(/status /)),
        row(get('/pets?after.gt=1'), invalid(/after /)),
        row(get('/pets?status_id=1'), invalid(/status /)),
        ...rows(
          invalid(/: send limit and after /),
          ...words('cursor=0 page=2 Offset[]=0 skip=1').map((query) => get(`/pets?${query}`)),
        ),
      ],
      'ignores unknown parameters': rows(
        ok(list(ADA, BO, CY, DI, ED)),
        get('/pets?utm=a%26b&flag'),
        get('/pets?&&=&xafter=3&limits=1&filter[status]=sold'),
      ),
      'names every wrong parameter': [
        row(
          get('/pets?status=gone&limit=0&after=a'),
          invalid(/^(?=.*limit)(?=.*status)(?=.*after)/),
        ),
      ],
      async 'returns 20 animals by default, and each exactly once along the links'(service) {
        for (let count = 0; count < 20; count += 1) await service.send(post(PET));
        const stored = await service.animals();

        const [first = '', second = '', ...others] = await pagesFrom(service, '/pets');
        assert.deepEqual([idsOf(first).length, idsOf(second).length], [20, 5]);
        assert.deepEqual(others, []);

        for (const status of words('available pending sold')) {
          const pages = await pagesFrom(service, `/pets?status=${status}&limit=2`);
          const wanted = stored.filter((animal) => animal.includes(`"status":"${status}"`));
          assert.deepEqual(pages.flatMap(idsOf), idsOf(wanted.join()), status);
        }
      },
    },
  },
  {
    topic: 'getting an animal',
    rules: {
      'returns it to the digit, and says what replaces getPet': [
        row(
          get('/pets/1'),
          ok(ADA, { Link: '<../pets?status=available>; rel="successor-version"' }),
        ),
        row(get('/pets/4'), ok(DI)),
      ],
      'gets 404 for an unknown id, and for anything but an int64': rows(
        error(404, 'pet_not_found'),
        ...words('-1 999 9223372036854775808 abc 007').map((id) => get(`/pets/${id}`)),
      ),
      'ignores If-Match': [row(get('/pets/1', ['If-Match', '"x"']), ok(ADA))],
      'ignores the query': [row(get('/pets/1?limit=0&status=x'), ok(ADA))],
    },
  },
  {
    topic: 'a request with If-None-Match',
    rules: {
      'gets 304 for *, also with a Link': [
        ...rows(
          { status: 304, body: '' },
          get('/pets/1', ifNoneMatch('*')),
          get('/pets', ifNoneMatch('*')),
          authorized('HEAD', '/pets', ifNoneMatch('*')),
          requestTo('GET', '/docs', ifNoneMatch('*')),
        ),
        row(get('/pets?limit=1', ifNoneMatch('*')), {
          status: 304,
          headers: { Link: /rel="next"/ },
        }),
      ],
      'gets 200 for another tag': rows(
        ok(ADA),
        get('/pets/1', ifNoneMatch('"another"')),
        get('/pets/1', ifNoneMatch('"*"')),
      ),
      'gets 404 for an unknown animal': [
        row(get('/pets/0', ifNoneMatch('*')), error(404, 'pet_not_found')),
      ],
      async 'gets 304 for the tag in any form, also in a list of tags'({ send }) {
        for (const path of ['/pets/1', '/pets?limit=1']) {
          const tag = (await send(get(path))).headers.get('ETag') ?? '';
          for (const tags of [tag, `W/${tag}`, `"other", W/"another" , ${tag}`]) {
            const { status, headers } = await send(get(path, ifNoneMatch(tags)));
            assert.deepEqual([status, headers.get('ETag')], [304, tag], `${path} with ${tags}`);
          }
          const other = await send(get('/pets/2', ifNoneMatch(tag)));
          assert.equal(other.status, 200, 'another animal with this tag');
        }
      },
      async 'gets 200 once the page or its Link has changed'({ send }) {
        const page = await send(get('/pets?after=4&limit=1'));
        const whole = await send(get('/pets'));
        await send(post(PET));

        for (const [path, { headers }] of [
          ['/pets?after=4&limit=1', page],
          ['/pets', whole],
        ] as const) {
          const again = await send(get(path, ifNoneMatch(headers.get('ETag') ?? '')));
          assert.equal(again.status, 200, path);
        }
        const changed = await send(get('/pets?after=4&limit=1'));
        assert.equal(changed.body, page.body);
        assert.equal(changed.headers.get('Link'), next('limit=1&after=5'));
      },
    },
  },
  {
    topic: 'at a public address, lists',
    settings: { publicUrl: 'https://animals.example/shop/v1' },
    rules: {
      'link to the next page of that address': [
        row(
          withKey(KEYS.reader, get('/pets?limit=1')),
          ok(list(ADA), {
            Link: '<https://animals.example/shop/v1/pets?limit=1&after=1>; rel="next"',
          }),
        ),
      ],
    },
  },
];
