import assert from 'node:assert/strict';
import { checkAnswer, header } from './answer-promises.js';
import { nextTarget } from './catalogue.js';
import type { Ready } from './ready-subject.js';
import { PET, bearer, get, post, send, type RowRequest, type Situation } from './request-row.js';
import { type Answer } from './socket-client.js';

/** A promise that takes several requests to show. Knows nothing of the test runner or the transport, as rows do. */
export interface Scenario {
  readonly name: string;
  readonly given?: Situation;
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
    checkAnswer(page, { method: 'GET', path: `${subject.values.base}/pets`, basePath: subject.values.base });
    pages.push(page);
    target = nextTarget(page);
  }
  return pages;
}

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
