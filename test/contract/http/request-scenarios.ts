import { strict as assert } from 'node:assert';
import { checkAnswer, header } from './answer-promises.js';
import { nextTarget } from './next-target.js';
import type { Ready } from './ready-subject.js';
import { JSON_CONTENT, PET, bearer, get, post, send, type RowRequest } from './request-row.js';
import type { Situation } from './situation.js';
import { headerValues, type Answer } from './conversation.js';

/** A promise that takes several requests to show. Knows nothing of the test runner or the transport, as rows do. */
export interface Scenario {
  readonly name: string;
  readonly given?: Situation;
  /** Why only a socket can send this, or tell what comes back. */
  readonly socketOnly?: string;
  run(subject: Ready): Promise<void>;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'gives 20 animals where no limit is given',
    async run(subject) {
      await add(subject, 25);
      assert.equal(idsOf(await ask(subject, get('/pets'))).length, 20);
    },
  },
  {
    name: 'gives as many animals as the limit says, and a link while there are more',
    async run(subject) {
      await add(subject, 101);
      for (const limit of [1, 2, 19, 99, 100]) {
        const page = await ask(subject, get(`/pets?limit=${limit}`));
        assert.equal(idsOf(page).length, limit);
        assert.notEqual(nextTarget(page), undefined);
      }
    },
  },
  ...['', 'status=available', 'status=pending', 'status=sold'].flatMap((filter): Scenario[] =>
    [1, 3, 100].map((limit) => ({
      name: `meets every animal once by following the links, ${limit} at a time${filter === '' ? '' : `, with ${filter}`}`,
      async run(subject) {
        const status = /=(.*)/.exec(filter)?.[1];
        const added = await add(subject, 4, ['available', 'pending', 'sold', 'sold']);
        const all = await traverse(subject, `/pets?${filter}&limit=100`);
        // Small pages begin shortly before the end: all of them from the beginning would take long.
        const from = limit === 100 ? '' : await cursorBefore(subject, filter, 7);
        const pages = await traverse(subject, `/pets?${filter}&limit=${limit}${from}`);
        const ids = pages.flatMap(idsOf);
        assert.deepEqual(ids, all.flatMap(idsOf).slice(-ids.length));
        assert.deepEqual(ids, [...ids].sort(ascending));
        assert.equal(new Set(ids).size, ids.length);
        for (const pet of added) {
          assert.equal(ids.includes(pet.id), status === undefined || pet.status === status, pet.id);
        }
        for (const page of pages.slice(0, -1)) assert.equal(idsOf(page).length, limit);
        if (status !== undefined) {
          for (const page of pages) assert.doesNotMatch(page.body.toString(), otherThan(status));
        }
      },
    })),
  ),
  {
    name: 'ends exactly at the last animal when the last page is full',
    async run(subject) {
      await add(subject, 3);
      const from = await cursorBefore(subject, '', 2);
      const page = await ask(subject, get(`/pets?limit=2${from}`));
      assert.equal(idsOf(page).length, 2);
      assert.equal(nextTarget(page), undefined);
    },
  },
  {
    name: 'meets every animal once that is there during a whole traversal while others are added',
    async run(subject) {
      await add(subject, 6);
      const there = (await traverse(subject, '/pets?limit=100')).flatMap(idsOf);
      const met: string[] = [];
      let next: string | undefined = `${subject.values.base}/pets?limit=17`;
      while (next !== undefined) {
        const page: Answer = await ask(subject, { ...get(''), target: next });
        met.push(...idsOf(page));
        if (met.length < there.length) await add(subject, 1);
        next = nextTarget(page);
      }
      assert.deepEqual(met.slice(0, there.length), there);
      assert.equal(new Set(met).size, met.length);
    },
  },
  {
    name: 'finds an animal at its Location',
    async run(subject) {
      const created = await ask(subject, post(PET));
      const got = await ask(subject, { ...get(''), target: header(created, 'Location') });
      assert.equal(got.status, 200);
      assert.deepEqual(got.body, created.body);
    },
  },
  {
    name: 'gives every animal a new identifier, greater than those before',
    async run(subject) {
      const ids = (await add(subject, 5)).map(({ id }) => id);
      assert.deepEqual(ids, [...ids].sort(ascending));
      assert.equal(new Set(ids).size, 5);
    },
  },
  {
    name: 'adds as many animals as it acknowledged of those added at the same time',
    async run(subject) {
      const before = (await traverse(subject, '/pets?limit=100')).flatMap(idsOf).length;
      const created = await Promise.all(Array.from({ length: 20 }, () => ask(subject, post(PET))));
      assert.deepEqual(
        created.map(({ status }) => status),
        Array(20).fill(201),
      );
      assert.equal((await traverse(subject, '/pets?limit=100')).flatMap(idsOf).length, before + 20);
    },
  },
  {
    name: 'refuses a cursor in which any one character was altered',
    async run(subject) {
      const { cursor } = subject.values;
      for (let index = 0; index < cursor.length; index += 1) {
        const altered = cursor[index] === '0' ? '1' : '0';
        await refusesCursor(subject, cursor.slice(0, index) + altered + cursor.slice(index + 1));
        await refusesCursor(subject, cursor.slice(0, index) + cursor.slice(index + 1));
        await refusesCursor(subject, cursor.slice(0, index));
      }
      for (const other of [cursor.toUpperCase(), cursor.toLowerCase()]) {
        if (other !== cursor) await refusesCursor(subject, other);
      }
    },
  },
  {
    name: 'gives the same cursor for the same place again',
    async run(subject) {
      const [first, second] = [
        await ask(subject, get('/pets?limit=1')),
        await ask(subject, get('/pets?limit=1')),
      ];
      assert.equal(nextTarget(first), nextTarget(second));
    },
  },
  ...(
    [
      ['listPets', get('/pets?limit=1')],
      ['getPet', get('/pets/{{pet}}')],
      ['an animal that is not there', get('/pets/0')],
      ['a wrong parameter', get('/pets?limit=0')],
      ['a path that is not served', get('/orders')],
      ['a missing key', { method: 'GET', target: '{{base}}/pets', headers: [] }],
      ['a lacking scope', { ...get('/pets'), headers: [bearer('{{writeOnlyKey}}')] }],
      ['/livez', { method: 'GET', target: '/livez', headers: [] }],
      ['/openapi.json', { method: 'GET', target: '/openapi.json', headers: [] }],
      ['/readyz', { method: 'GET', target: '/readyz', headers: [] }],
      ['/docs', { method: 'GET', target: '/docs', headers: [] }],
      ['/docs/page.js', { method: 'GET', target: '/docs/page.js', headers: [] }],
      ['/', { method: 'GET', target: '/', headers: [] }],
    ] satisfies ReadonlyArray<readonly [string, RowRequest]>
  ).map(([what, request]): Scenario => ({
    name: `answers HEAD with the status and the headers of GET, for ${what}`,
    async run(subject) {
      const [got, head] = [await ask(subject, request), await ask(subject, { ...request, method: 'HEAD' })];
      assert.equal(head.status, got.status);
      assert.deepEqual(lasting(head), lasting(got));
      assert.equal(head.body.length, 0);
    },
  })),
  {
    name: 'gives every request an id of its own',
    async run(subject) {
      const ids = new Set<string>();
      for (let count = 0; count < 5; count += 1)
        ids.add(header(await ask(subject, get('/pets?limit=1')), 'X-Request-Id'));
      assert.equal(ids.size, 5);
    },
  },
  {
    name: 'answers the same to a key that is unknown, expired or revoked',
    async run(subject) {
      const answers: Answer[] = [];
      for (const key of ['nobody-has-this-key', '{{expiredKey}}', '{{revokedKey}}', '{{managedKey}}0'])
        answers.push(await ask(subject, { ...get('/pets'), headers: [bearer(key)] }));
      for (const answer of answers) {
        assert.deepEqual(answer.body, answers[0]?.body);
        assert.deepEqual(lasting(answer), answers[0] && lasting(answers[0]));
      }
    },
  },
  {
    name: 'answers a create that is repeated under its idempotency key with the first answer, to the byte',
    async run(subject) {
      const key = ['Idempotency-Key', 'repeated-1'] as const;
      const first = await ask(subject, post(PET, key));
      assert.equal(first.status, 201);
      const { length } = await all(subject);
      const repeats = [
        post(PET, key),
        post(PET, ['Idempotency-Key', '"repeated-1"']),
        post('{ "status" : "available", "categoryId": 70e-1, "name": "\\u0042ella", "id": 4 }', key),
      ];
      for (const request of [...repeats, ...repeats]) {
        const repeated = await ask(subject, request);
        assert.equal(repeated.status, 201);
        assert.deepEqual(repeated.body, first.body);
        assert.equal(header(repeated, 'Location'), header(first, 'Location'));
        assert.equal(header(repeated, 'Idempotency-Replayed'), 'true');
      }
      assert.equal((await all(subject)).length, length);
    },
  },
  {
    name: 'refuses another animal under an idempotency key that was used, and stores nothing',
    async run(subject) {
      const key = ['Idempotency-Key', 'reused-1'] as const;
      const first = await ask(subject, post(PET, key));
      const { length } = await all(subject);
      for (const other of [
        '{"name":"bella","categoryId":7}',
        '{"name":"Bella","categoryId":8}',
        '{"name":"Bella","categoryId":7,"status":"sold"}',
      ]) {
        const refused = await ask(subject, post(other, key));
        assert.equal(refused.status, 422);
        assert.match(refused.body.toString(), /"code":"idempotency_key_reused"/);
      }
      assert.equal((await all(subject)).length, length);
      assert.deepEqual((await ask(subject, post(PET, key))).body, first.body);
    },
  },
  {
    name: 'keeps the idempotency keys of one API key apart from those of another',
    async run(subject) {
      const idempotencyKey = ['Idempotency-Key', 'apart-1'] as const;
      const ids: (string | undefined)[] = [];
      for (const apiKey of ['{{key}}', '{{secondKey}}', '{{managedKey}}', '{{writeOnlyKey}}']) {
        const headers = [bearer(apiKey), JSON_CONTENT, idempotencyKey];
        const created = await ask(subject, { ...post(PET), headers });
        assert.deepEqual(headerValues(created, 'Idempotency-Replayed'), []);
        ids.push(idsOf(created)[0]);
      }
      assert.equal(new Set(ids).size, 4);
    },
  },
  {
    name: 'keeps no refusal under an idempotency key: the request mended is a new one',
    async run(subject) {
      const key = ['Idempotency-Key', 'mended-1'] as const;
      const refusals: ReadonlyArray<readonly [RowRequest, status: number]> = [
        [post('{"name":"Bella"}', key), 400],
        [post('{"name":"Bella"', key), 400],
        [post('', key), 400],
        [{ ...send('POST', '/pets', ['Content-Type', 'text/plain'], key), body: PET }, 415],
        [{ ...post(PET), headers: [bearer('{{readOnlyKey}}'), JSON_CONTENT, key] }, 403],
        [{ ...post(PET), headers: [bearer('nobody'), JSON_CONTENT, key] }, 401],
      ];
      for (const [request, status] of refusals) assert.equal((await ask(subject, request)).status, status);
      const created = await ask(subject, post(PET, key));
      assert.equal(created.status, 201);
      assert.deepEqual(headerValues(created, 'Idempotency-Replayed'), []);
      // Nor does a refusal later take away what is kept.
      assert.equal((await ask(subject, post('{"name":"Bella"}', key))).status, 400);
      assert.deepEqual((await ask(subject, post(PET, key))).body, created.body);
    },
  },
  {
    name: 'adds one animal for eight equal requests at the same time under one idempotency key, 25 times',
    async run(subject) {
      const before = (await all(subject)).length;
      for (let round = 0; round < 25; round += 1) {
        const request = post(PET, ['Idempotency-Key', `at-once-${round}`]);
        const answers = await Promise.all(Array.from({ length: 8 }, () => ask(subject, request)));
        const created = answers.filter(({ status }) => status === 201);
        // A store may leave the others undecided, for the client to come again.
        for (const { status } of answers) assert.ok(status === 201 || status === 409, `${status}`);
        assert.equal(new Set(created.map(({ body }) => body.toString())).size, 1);
        assert.equal(
          created.filter((answer) => headerValues(answer, 'Idempotency-Replayed').length === 0).length,
          1,
        );
      }
      assert.equal((await all(subject)).length, before + 25);
    },
  },
  {
    name: 'sends a list again once another animal is in it, and once there comes to be a next page',
    async run(subject) {
      const [last = ''] = (await all(subject)).slice(-1);
      await ask(subject, post(PET));
      const target = `/pets?limit=1${await cursorBefore(subject, '', 1)}`;
      const page = await ask(subject, get(target));
      assert.notEqual(idsOf(page)[0], last);
      const known = ['If-None-Match', header(page, 'ETag')] as const;
      assert.equal((await ask(subject, get(target, known))).status, 304);
      await ask(subject, post(PET));
      // The same animal, but no longer the last.
      const again = await ask(subject, get(target, known));
      assert.equal(again.status, 200);
      assert.deepEqual(again.body, page.body);
      assert.notEqual(nextTarget(again), undefined);
    },
  },
  {
    name: 'gives the same animals the same entity tag, and different ones different',
    async run(subject) {
      const targets = [
        '/pets?limit=1',
        '/pets?limit=2',
        '/pets?status=sold&limit=1',
        '/pets/{{pet}}',
        '/pets/0',
      ];
      const tags: string[] = [];
      for (const target of targets) {
        const [tag] = headerValues(await ask(subject, get(target)), 'ETag');
        assert.equal(headerValues(await ask(subject, get(target)), 'ETag')[0], tag);
        if (tag !== undefined) tags.push(tag);
      }
      assert.equal(tags.length, 4);
      assert.equal(new Set(tags).size, 4);
    },
  },
  {
    name: 'sends the docs page again only to a client that has another',
    async run(subject) {
      for (const target of ['/docs', '/docs/page.css', '/docs/page.js']) {
        const request: RowRequest = { method: 'GET', target, headers: [] };
        const tag = header(await ask(subject, request), 'ETag');
        const known = await ask(subject, { ...request, headers: [['If-None-Match', `"x", W/${tag}`]] });
        assert.equal(known.status, 304);
        assert.equal(header(known, 'ETag'), tag);
      }
    },
  },
  {
    name: 'shows every key the same animals',
    async run(subject) {
      const bodies: string[] = [];
      for (const key of ['{{key}}', '{{secondKey}}', '{{managedKey}}', '{{readOnlyKey}}'])
        bodies.push(
          (await ask(subject, { ...get('/pets?limit=3'), headers: [bearer(key)] })).body.toString(),
        );
      assert.equal(new Set(bodies).size, 1);
    },
  },
  {
    name: 'names the methods in OPTIONS as in 405',
    async run(subject) {
      for (const path of ['/pets', '/pets/{{pet}}']) {
        const allowed = header(await ask(subject, send('OPTIONS', path)), 'Allow');
        assert.equal(header(await ask(subject, send('DELETE', path)), 'Allow'), allowed);
      }
    },
  },
];

const STATUSES = ['available', 'pending', 'sold'];

const otherThan = (status: string): RegExp =>
  new RegExp(`"status":"(?:${STATUSES.filter((other) => other !== status).join('|')})"`);

/** By value: as text 10 comes before 9. */
const ascending = (left: string, right: string): number => (BigInt(left) < BigInt(right) ? -1 : 1);

async function ask(subject: Ready, request: RowRequest): Promise<Answer> {
  const { answers } = await subject.send(request);
  const [answer] = answers;
  assert.ok(answer, `${request.method} ${request.target} was not answered`);
  return answer;
}

interface Added {
  readonly id: string;
  readonly status: string;
}

async function add(
  subject: Ready,
  count: number,
  statuses: readonly string[] = ['available'],
): Promise<Added[]> {
  const added: Added[] = [];
  for (let index = 0; index < count; index += 1) {
    const status = statuses[index % statuses.length] ?? '';
    const answer = await ask(subject, post(`{"name":"n","categoryId":1,"status":"${status}"}`));
    assert.equal(answer.status, 201);
    added.push({ id: idsOf(answer)[0] ?? '', status });
  }
  return added;
}

/** The ids in a body, as text: an int64 need not survive JSON.parse. */
const idsOf = ({ body }: Answer): string[] =>
  [...body.toString().matchAll(/\{"id":(\d+),"name":/g)].map(([, id]) => id ?? '');

/** All pages from a path below the base to the one without a link. */
async function traverse(subject: Ready, path: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  let target: string | undefined = `{{base}}${path}`;
  while (target !== undefined) {
    const page: Answer = await ask(subject, { ...get(''), target });
    assert.equal(page.status, 200);
    const { overSocket, values } = subject;
    checkAnswer(page, { method: 'GET', path: `${values.base}/pets`, basePath: values.base, overSocket });
    pages.push(page);
    target = nextTarget(page);
  }
  return pages;
}

/** The ids of all animals. */
const all = async (subject: Ready): Promise<string[]> =>
  (await traverse(subject, '/pets?limit=100')).flatMap(idsOf);

/** The parameter for a page that begins with the last `count` animals of the list; nothing if it has no more. */
async function cursorBefore(subject: Ready, filter: string, count: number): Promise<string> {
  const total = (await traverse(subject, `/pets?${filter}&limit=100`)).flatMap(idsOf).length;
  let left = total - count;
  let cursor = '';
  while (left > 0) {
    const limit = Math.min(left, 100);
    const target: string | undefined = nextTarget(
      await ask(subject, get(`/pets?${filter}&limit=${limit}${cursor}`)),
    );
    cursor = `&cursor=${new URLSearchParams(target?.split('?')[1]).get('cursor')}`;
    left -= limit;
  }
  return cursor;
}

async function refusesCursor(subject: Ready, cursor: string): Promise<void> {
  const answer = await ask(subject, get(`/pets?cursor=${cursor}`));
  assert.equal(answer.status, 400, cursor);
  assert.match(answer.body.toString(), /"code":"invalid_cursor"/);
}

/** The headers that do not differ from one answer to the next. */
const lasting = (answer: Answer): ReadonlyArray<readonly [string, string]> =>
  answer.headers.filter(([name]) => !['date', 'x-request-id'].includes(name.toLowerCase()));
