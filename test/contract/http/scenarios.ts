import { setTimeout as delay } from 'node:timers/promises';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses } from '../contract.js';
import { times } from '../samples.js';
import { RESPONSE_CLAUSES, checkSamples, sampleResponses } from './response-clauses.js';
import { header, headerValues, nextTarget, type RawResponse } from './conversation.js';
import {
  PET,
  bare,
  by,
  get,
  post,
  postAs,
  send,
  type Header,
  type RowRequest,
} from './request-row.js';
import { ask, type Ready } from './run-row.js';
import type { Situation } from './wire-http.js';

/** A clause that takes several requests to show. It knows nothing of the test runner or the transport, as rows do. */
export interface Scenario<Name extends string = string> {
  readonly name: Name;
  readonly given?: Situation;
  /** Why only a socket can send this, or show what comes back. */
  readonly socketOnly?: string;
  readonly run: (service: Ready) => Promise<void>;
}

/** The clauses about every response: each is checked on responses of every kind. */
export const EVERY_RESPONSE = [
  ...casesOf(
    each(RESPONSE_CLAUSES, (name, check) => [
      name,
      async (service: Ready) => checkSamples(check, await sampleResponses(service)),
    ]),
  ),
  ...(['getPetOff', 'storeAway', 'storeFaulty', 'busy', 'otherBasePath'] as const).map((given) => ({
    name: `keeps the clauses about every response in the situation ${given}` as const,
    given,
    async run(service: Ready) {
      const samples = await sampleResponses(service);
      for (const [name, check] of Object.entries(RESPONSE_CLAUSES)) {
        // One case is enough to report a transport that sends no lengths.
        if (!name.includes('Content-Length')) checkSamples(check, samples);
      }
    },
  })),
];

const key = (value: string): Header => ['Idempotency-Key', value];

/** Clauses about animals that can be changed. */
const CHANGING = {
  async 'sells an animal once, changes its tag and its page, removes it once, and replays its create'(
    service,
  ) {
    const created = await ask(service, post(PET, key('sale-1')));
    const [id = ''] = idsOf(created);
    const page = get(`/pets?after=${BigInt(id) - 1n}&limit=1`);
    const tagOf = async (request: RowRequest): Promise<string> =>
      header(await ask(service, request), 'ETag');
    const before = [await tagOf(get(`/pets/${id}`)), await tagOf(page)] as const;
    const sell = (...headers: Header[]): RowRequest => ({
      ...send('PATCH', `/pets/${id}?from=available`, ...headers),
      body: '{"status":"sold"}',
    });
    const selling = await Promise.all(times(8, () => ask(service, sell())));
    const [sold, ...others] = selling.toSorted((one, other) => one.status - other.status);
    assert.deepEqual(
      [sold?.status, ...others.map(({ status }) => status)],
      [200, ...times(7, () => 409)],
    );
    assert.equal(sold?.body.toString(), created.body.toString().replace('available', 'sold'));
    const after = [await tagOf(get(`/pets/${id}`)), await tagOf(page)] as const;
    assert.equal(sold && header(sold, 'ETag'), after[0]);
    assert.ok(before[0] !== after[0] && before[1] !== after[1], 'an entity tag did not change');
    assert.equal((await ask(service, sell(['If-Match', before[0]]))).status, 412);

    const remove = (tag: string) => ask(service, send('DELETE', `/pets/${id}`, ['If-Match', tag]));
    assert.equal((await remove(before[0])).status, 412);
    const removed = await remove(after[0]);
    assert.deepEqual([removed.status, removed.body.length], [204, 0]);
    assert.equal((await remove('*')).status, 404);
    assert.equal((await ask(service, get(`/pets/${id}`))).status, 404);
    assert.ok(!(await allIds(service)).includes(id), 'a removed animal is listed');
    const replay = await ask(service, post(PET, key('sale-1')));
    assert.deepEqual([replay.status, replay.body], [201, created.body]);
    assert.ok(!(await allIds(service)).includes(id), 'a retry brought a removed animal back');
    assert.notEqual(idsOf(await ask(service, post(PET)))[0], id);
  },
  async 'keeps simultaneous changes of different members, and answers 412 to the tag of before'(
    service,
  ) {
    const created = await ask(service, post(PET));
    const [id = ''] = idsOf(created);
    const change = (body: string, ...headers: Header[]) =>
      ask(service, { ...send('PATCH', `/pets/${id}`, ...headers), body });
    const before = header(await ask(service, get(`/pets/${id}`)), 'ETag');
    const bodies = ['{"name":"Rex"}', '{"categoryId":8}', '{"status":"sold"}'];
    const { length } = await Promise.all(bodies.map((body) => change(body)));
    assert.equal(length, 3);
    const animal = `{"id":${id},"name":"Rex","categoryId":8,"status":"sold"}`;
    assert.equal((await ask(service, get(`/pets/${id}`))).body.toString(), animal);
    assert.equal((await change('{"name":"Max"}', ['If-Match', before])).status, 412);
    for (const body of bodies) {
      const tag = header(await change('{"name":"A","categoryId":1,"status":"pending"}'), 'ETag');
      assert.equal((await change(body)).status, 200);
      assert.equal((await change('{"name":"Max"}', ['If-Match', tag])).status, 412, body);
    }
    await ask(service, send('DELETE', `/pets/${id}`));
  },
} satisfies Clauses<Scenario['run']>;

const ON_STORES = {
  async 'returns every animal once along the links, with a filter or without'(service) {
    const added = new Map<string | undefined, string>();
    for (const status of [
      'available',
      'pending',
      'sold',
      'available',
      'pending',
      'sold',
      'available',
    ]) {
      const created = await ask(service, post(`{"name":"n","categoryId":1,"status":"${status}"}`));
      added.set(idsOf(created)[0], status);
    }
    for (const filter of ['', ...PET_STATUSES]) {
      const pages = await traverse(service, `/pets?${filter && `status=${filter}`}&limit=3`);
      const ids = pages.flatMap(idsOf);
      assert.deepEqual(ids, [...new Set(ids)].sort(ascending));
      for (const page of pages.slice(0, -1)) assert.equal(idsOf(page).length, 3);
      for (const [id = '', status] of added) {
        assert.equal(ids.includes(id), filter === '' || filter === status, `${id}, ${filter}`);
      }
    }
  },
  async 'replays the response to a create byte for byte, and answers 422 to another animal'(
    service,
  ) {
    const first = await ask(service, post(PET, key('repeated-1')));
    assert.equal(first.status, 201);
    const { length } = await allIds(service);
    const respelled =
      '{ "status" : "available", "categoryId": 70e-1, "name": "\\u0042ella", "id": 4 }';
    const retries = [
      post(PET, key('repeated-1')),
      post(PET, key('"repeated-1"')),
      post(respelled, key('repeated-1')),
    ];
    for (const request of [...retries, ...retries]) {
      for (const other of [
        '"name":"bella","categoryId":7',
        '"name":"Bella","categoryId":7,"status":"sold"',
      ]) {
        const refused = await ask(service, post(`{${other}}`, key('repeated-1')));
        assert.equal(refused.status, 422);
        assert.match(refused.body.toString(), /"code":"idempotency_key_reused"/);
      }
      const replay = await ask(service, request);
      assert.equal(replay.status, 201);
      assert.deepEqual(replay.body, first.body);
      assert.equal(header(replay, 'Location'), header(first, 'Location'));
      assert.equal(header(replay, 'Idempotency-Replayed'), 'true');
    }
    assert.equal((await allIds(service)).length, length);
  },
  async 'separates the idempotency keys of different API keys'(service) {
    const ids: (string | undefined)[] = [];
    for (const apiKey of ['{{key}}', '{{secondKey}}', '{{managedKey}}', '{{writeOnlyKey}}']) {
      const created = await ask(service, by(apiKey, post(PET, key('apart-1'))));
      assert.deepEqual(headerValues(created, 'Idempotency-Replayed'), []);
      ids.push(idsOf(created)[0]);
    }
    assert.equal(new Set(ids).size, 4);
  },
  async 'does not use up an idempotency key for a request that it refuses'(service) {
    const mended = key('mended-1');
    const refusals: ReadonlyArray<readonly [RowRequest, status: number]> = [
      [post('{"name":"Bella"}', mended), 400],
      [post('{"name":"Bella"', mended), 400],
      [post('', mended), 400],
      [{ ...postAs('text/plain'), headers: [...postAs('text/plain').headers, mended] }, 415],
      [by('{{readOnlyKey}}', post(PET, mended)), 403],
      [by('nobody', post(PET, mended)), 401],
    ];
    for (const [request, status] of refusals)
      assert.equal((await ask(service, request)).status, status);
    const created = await ask(service, post(PET, mended));
    assert.equal(created.status, 201);
    assert.deepEqual(headerValues(created, 'Idempotency-Replayed'), []);
    // Nor does a later refusal remove what is kept.
    assert.equal((await ask(service, post('{"name":"Bella"}', mended))).status, 400);
    assert.deepEqual((await ask(service, post(PET, mended))).body, created.body);
  },
  async 'sends a list again once it has another animal, or a next page'(service) {
    await ask(service, post(PET));
    const before = (await traverse(service, '/pets?limit=1')).at(-2);
    const target = before && nextTarget(before);
    assert.ok(target);
    const last = { ...get(''), target };
    const page = await ask(service, last);
    const known = ['If-None-Match', header(page, 'ETag')] as const;
    const again = { ...last, headers: [...last.headers, known] };
    assert.equal((await ask(service, again)).status, 304);
    await ask(service, post(PET));
    // The same animal, but no longer the last.
    const changed = await ask(service, again);
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body, page.body);
    assert.notEqual(nextTarget(changed), undefined);
  },
} satisfies Clauses<Scenario['run']>;

/** The clauses that depend on the store: pages, exactly-once creates, entity tags, changes. */
export const STORE_SCENARIOS = [
  ...casesOf(ON_STORES),
  ...casesOf(CHANGING).map(({ name, run }) => ({ name, run, given: 'experimental' as const })),
];

const HEADS: readonly RowRequest[] = [
  get('/pets?limit=1'),
  get('/pets/{{pet}}'),
  get('/pets/0'),
  get('/pets?limit=0'),
  get('/orders'),
  by(undefined, get('/pets')),
  by('{{writeOnlyKey}}', get('/pets')),
  ...['/livez', '/readyz', '/openapi.json', '/docs', '/'].map((path) => bare('GET', path)),
];

/** Requests that no transport may fail on: their bodies are malformed, or end early. */
const CUT_OFF = ['zz\r\n', '5\r\nab', '5\r\nabcdefgh', ''].map(
  (body) =>
    `POST {{base}}/pets HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {{key}}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
);

const ON_TRANSPORTS = {
  async 'answers HEAD with the status and headers of GET'(service) {
    for (const request of HEADS) {
      const got = await ask(service, request);
      const head = await ask(service, { ...request, method: 'HEAD' });
      assert.equal(head.status, got.status, request.target);
      assert.deepEqual(lasting(head), lasting(got), request.target);
    }
  },
  async 'gives every request its own id'(service) {
    const responses = await Promise.all(times(5, () => ask(service, get('/pets?limit=1'))));
    assert.equal(new Set(responses.map((response) => header(response, 'X-Request-Id'))).size, 5);
  },
  async 'answers unknown, expired and revoked keys alike'(service) {
    const responses: RawResponse[] = [];
    for (const apiKey of [
      'nobody-has-this-key',
      '{{expiredKey}}',
      '{{revokedKey}}',
      '{{managedKey}}0',
    ]) {
      responses.push(await ask(service, by(apiKey, get('/pets'))));
    }
    for (const response of responses) {
      assert.deepEqual(response.body, responses[0]?.body);
      assert.deepEqual(lasting(response), responses[0] && lasting(responses[0]));
    }
  },
  async 'serves every file of the docs page'(service) {
    const page = await ask(service, bare('GET', '/docs'));
    const files = [...page.body.toString().matchAll(/ (?:href|src)="(?:\.\/)?(docs\/[\w./-]+)"/g)];
    assert.ok(files.length > 1);
    for (const [, file] of files) {
      const request = bare('GET', `/${file}`);
      const found = await ask(service, request);
      assert.equal(found.status, 200, file);
      assert.equal(
        header(found, 'Content-Security-Policy'),
        header(page, 'Content-Security-Policy'),
      );
      const known = ['If-None-Match', `"x", W/${header(found, 'ETag')}`] as const;
      assert.equal((await ask(service, { ...request, headers: [known] })).status, 304, file);
    }
  },
} satisfies Clauses<Scenario['run']>;

/** Clauses that only a socket can show: a Request is whole. */
const OVER_SOCKETS = {
  async 'keeps serving after requests whose bodies are malformed or end early'(service) {
    for (const raw of CUT_OFF) await service.send({ raw }, { responses: 0 });
    for (const raw of CUT_OFF.slice(0, 1)) await service.send({ raw }, { untilClosed: true });
    await delay(20); // for the server to notice that the clients are gone
    assert.equal((await ask(service, get('/pets?limit=1'))).status, 200);
  },
} satisfies Clauses<Scenario['run']>;

/** The clauses that depend on the transport, and take several requests to show. */
export const TRANSPORT_SCENARIOS = [
  ...casesOf(ON_TRANSPORTS),
  ...casesOf(OVER_SOCKETS).map(({ name, run }) => ({
    name,
    run,
    socketOnly: 'a Request is whole',
  })),
];

/** By value: as text, 10 comes before 9. */
const ascending = (left: string, right: string): number => (BigInt(left) < BigInt(right) ? -1 : 1);

/** The ids in a body, as text: an int64 does not survive JSON.parse. */
const idsOf = ({ body }: RawResponse): string[] =>
  [...body.toString().matchAll(/\{"id":(\d+),"name":/g)].map(([, id]) => id ?? '');

/** All pages from a path below the base path to the one without a link. */
async function traverse(service: Ready, path: string): Promise<RawResponse[]> {
  const pages: RawResponse[] = [];
  let target: string | undefined = `{{base}}${path}`;
  while (target !== undefined) {
    const page: RawResponse = await ask(service, { ...get(''), target });
    assert.equal(page.status, 200);
    pages.push(page);
    target = nextTarget(page);
  }
  return pages;
}

const allIds = async (service: Ready): Promise<string[]> =>
  (await traverse(service, '/pets?limit=100')).flatMap(idsOf);

const VARYING = new Set(['date', 'x-request-id', 'content-length', 'transfer-encoding']);

/** The headers that are equal in equal responses. The length has a clause of its own. */
const lasting = (response: RawResponse): ReadonlyArray<readonly [string, string]> =>
  response.headers.filter(([name]) => !VARYING.has(name.toLowerCase()));
