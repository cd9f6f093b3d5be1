import { setTimeout as delay } from 'node:timers/promises';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { casesOf, each, type Clauses } from '../contract.js';
import { times, words } from '../samples.js';
import { RESPONSE_CLAUSES, checkSamples, sampleResponses } from './response-clauses.js';
import { checkAbsent, header, nextTarget, type RawResponse } from './conversation.js';
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
import { responseTo, type Ready } from './run-row.js';
import type { Situation } from './wire-http.js';

/** A clause that takes several requests to show. It knows nothing of the test runner or the transport, as rows do. */
export interface Scenario {
  readonly name: string;
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
  ...(['getPetOff', 'storeUnreachable', 'storeFaulty', 'busy', 'otherBasePath'] as const).map(
    (given) => ({
      name: `keeps the clauses about every response in the situation ${given}`,
      given,
      async run(service: Ready) {
        const samples = await sampleResponses(service);
        for (const [name, check] of Object.entries(RESPONSE_CLAUSES)) {
          // One case is enough to report a transport that sends no lengths.
          if (!name.includes('Content-Length')) checkSamples(check, samples);
        }
      },
    }),
  ),
];

const key = (value: string): Header => ['Idempotency-Key', value];

/** Checks the status of the response to a request, and returns the response. */
async function statusIs(
  status: number,
  service: Ready,
  request: RowRequest,
  about: string,
): Promise<RawResponse> {
  const response = await responseTo(service, request);
  assert.equal(response.status, status, `the status of ${about}: ${response.body.toString()}`);
  return response;
}

const textOf = ({ body }: RawResponse): string => body.toString();

const tagOf = async (service: Ready, request: RowRequest): Promise<string> =>
  header(await responseTo(service, request), 'ETag');

/** Clauses about animals that can be changed. */
const CHANGING: Clauses<Scenario['run']> = {
  async 'sells an animal once, changes its tag and its page, removes it once, and replays its create'(
    service,
  ) {
    const created = await responseTo(service, post(PET, key('sale-1')));
    const [id = ''] = idsOf(created);
    const animal = get(`/pets/${id}`);
    const page = get(`/pets?after=${BigInt(id) - 1n}&limit=1`);
    const tagBefore = await tagOf(service, animal);
    const pageTagBefore = await tagOf(service, page);
    const sell = (...headers: Header[]): RowRequest => ({
      ...send('PATCH', `/pets/${id}?from=available`, ...headers),
      body: '{"status":"sold"}',
    });

    const selling = await Promise.all(times(8, () => responseTo(service, sell())));

    const [sold, ...others] = selling.toSorted((one, other) => one.status - other.status);
    const statuses = others.map(({ status }) => status);
    assert.ok(sold?.status === 200, `nobody sold the animal: ${sold && textOf(sold)}`);
    assert.deepEqual(statuses, Array(7).fill(409), 'the statuses of the seven others');
    assert.equal(textOf(sold), textOf(created).replace('available', 'sold'));
    const tag = await tagOf(service, animal);
    assert.equal(header(sold, 'ETag'), tag, 'the tag of the response to the sale');
    assert.notEqual(tag, tagBefore, 'the tag of the animal after the sale');
    assert.notEqual(await tagOf(service, page), pageTagBefore, 'the tag of its page afterwards');
    await statusIs(412, service, sell(['If-Match', tagBefore]), 'a sale with the old tag');

    const remove = (match: string) => send('DELETE', `/pets/${id}`, ['If-Match', match]);
    await statusIs(412, service, remove(tagBefore), 'a removal with the old tag');
    const removed = await statusIs(204, service, remove(tag), 'a removal with the tag');
    assert.equal(textOf(removed), '', 'the body of the 204');
    await statusIs(404, service, remove('*'), 'a second removal');
    await statusIs(404, service, animal, 'a GET of the removed animal');
    assert.ok(!(await allIds(service)).includes(id), 'a removed animal is listed');

    const replay = await statusIs(201, service, post(PET, key('sale-1')), 'the replay');
    assert.deepEqual(replay.body, created.body);
    assert.ok(!(await allIds(service)).includes(id), 'a retry brought a removed animal back');
    const [next] = idsOf(await responseTo(service, post(PET)));
    assert.notEqual(next, id, 'the id of the next animal');
  },
  async 'keeps simultaneous changes of different members, and answers 412 to the tag of before'(
    service,
  ) {
    const [id = ''] = idsOf(await responseTo(service, post(PET)));
    const animal = get(`/pets/${id}`);
    const change = (body: string, ...headers: Header[]): RowRequest => ({
      ...send('PATCH', `/pets/${id}`, ...headers),
      body,
    });
    const rename = (tag: string) => change('{"name":"Max"}', ['If-Match', tag]);
    const before = await tagOf(service, animal);
    const bodies = ['{"name":"Rex"}', '{"categoryId":8}', '{"status":"sold"}'];

    await Promise.all(bodies.map((body) => responseTo(service, change(body))));

    const expected = `{"id":${id},"name":"Rex","categoryId":8,"status":"sold"}`;
    assert.equal(textOf(await responseTo(service, animal)), expected);
    await statusIs(412, service, rename(before), 'a change with the old tag');
    for (const body of bodies) {
      const tag = await tagOf(service, change('{"name":"A","categoryId":1,"status":"pending"}'));
      await statusIs(200, service, change(body), `the change ${body}`);
      await statusIs(412, service, rename(tag), `a change with the tag before ${body}`);
    }
    await responseTo(service, send('DELETE', `/pets/${id}`));
  },
};

const ON_STORES: Clauses<Scenario['run']> = {
  async 'returns every animal once along the links, with a filter or without'(service) {
    const added = new Map<string, string>();
    for (const status of words('available pending sold available pending sold available')) {
      const created = await responseTo(
        service,
        post(`{"name":"n","categoryId":1,"status":"${status}"}`),
      );
      added.set(idsOf(created)[0] ?? '', status);
    }

    for (const filter of ['', ...PET_STATUSES]) {
      const pages = await traverse(service, `/pets?${filter && `status=${filter}`}&limit=3`);

      const ids = pages.flatMap(idsOf);
      assert.deepEqual(ids, [...new Set(ids)].sort(ascending), 'the ids along the links');
      for (const page of pages.slice(0, -1))
        assert.equal(idsOf(page).length, 3, 'the animals of a page before the last');
      for (const [id, status] of added) {
        const isWanted = filter === '' || filter === status;
        assert.equal(ids.includes(id), isWanted, `whether ${id} (${status}) is in ${filter}`);
      }
    }
  },
  async 'replays the response to a create byte for byte, and answers 422 to another animal'(
    service,
  ) {
    const created = await statusIs(201, service, post(PET, key('repeated-1')), 'the create');
    const { length } = await allIds(service);
    const respelled =
      '{ "status" : "available", "categoryId": 70e-1, "name": "\\u0042ella", "id": 4 }';
    const repeated = [
      post(PET, key('repeated-1')),
      post(PET, key('"repeated-1"')),
      post(respelled, key('repeated-1')),
    ];
    const others = [
      '{"name":"bella","categoryId":7}',
      '{"name":"Bella","categoryId":7,"status":"sold"}',
    ];

    for (const request of [...repeated, ...repeated]) {
      for (const other of others) {
        const reusing = post(other, key('repeated-1'));
        const refused = await statusIs(422, service, reusing, `a create of ${other}`);
        assert.match(textOf(refused), /"code":"idempotency_key_reused"/);
      }
      const replay = await statusIs(201, service, request, 'a replay');
      assert.deepEqual(replay.body, created.body);
      assert.equal(header(replay, 'Location'), header(created, 'Location'));
      assert.equal(header(replay, 'Idempotency-Replayed'), 'true');
    }
    assert.equal((await allIds(service)).length, length, 'the animals afterwards');
  },
  async 'separates the idempotency keys of different API keys'(service) {
    const apiKeys = ['{{key}}', '{{secondKey}}', '{{managedKey}}', '{{writeOnlyKey}}'];
    const ids = new Set<string | undefined>();
    for (const apiKey of apiKeys) {
      const created = await responseTo(service, by(apiKey, post(PET, key('apart-1'))));
      checkAbsent(created, 'Idempotency-Replayed');
      ids.add(idsOf(created)[0]);
    }
    assert.equal(ids.size, apiKeys.length, 'different animals');
  },
  async 'does not use up an idempotency key for a request that it refuses'(service) {
    const mended = key('mended-1');
    const asText = postAs('text/plain');
    const incomplete = post('{"name":"Bella"}', mended);
    await statusIs(400, service, incomplete, 'an animal without a category');
    await statusIs(400, service, post('{"name":"Bella"', mended), 'malformed JSON');
    await statusIs(400, service, post('', mended), 'an empty body');
    const ofText = { ...asText, headers: [...asText.headers, mended] };
    await statusIs(415, service, ofText, 'a body of text');
    await statusIs(403, service, by('{{readOnlyKey}}', post(PET, mended)), 'a key that may read');
    await statusIs(401, service, by('nobody', post(PET, mended)), 'an unknown key');

    const created = await statusIs(201, service, post(PET, mended), 'the create');

    checkAbsent(created, 'Idempotency-Replayed');
    // Nor does a later refusal remove what is kept.
    await statusIs(400, service, incomplete, 'an animal without a category, afterwards');
    assert.deepEqual((await responseTo(service, post(PET, mended))).body, created.body);
  },
  async 'sends a list again once it has another animal, or a next page'(service) {
    await responseTo(service, post(PET));
    const before = (await traverse(service, '/pets?limit=1')).at(-2);
    const target = (before && nextTarget(before)) ?? '';
    const last = { ...get(''), target };
    const page = await responseTo(service, last);
    const known = ['If-None-Match', header(page, 'ETag')] as const;
    const again = { ...last, headers: [...last.headers, known] };
    await statusIs(304, service, again, 'the last page, unchanged');

    await responseTo(service, post(PET));

    // The same animal, but no longer the last.
    const changed = await statusIs(200, service, again, 'the page that was the last');
    assert.deepEqual(changed.body, page.body);
    assert.notEqual(nextTarget(changed), undefined, 'the link to the next page');
  },
};

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

const ON_TRANSPORTS: Clauses<Scenario['run']> = {
  async 'answers HEAD with the status and headers of GET'(service) {
    for (const request of HEADS) {
      const got = await responseTo(service, request);
      const head = await responseTo(service, { ...request, method: 'HEAD' });
      assert.equal(head.status, got.status, request.target);
      assert.deepEqual(lasting(head), lasting(got), request.target);
    }
  },
  async 'gives every request its own id'(service) {
    const responses = await Promise.all(times(5, () => responseTo(service, get('/pets?limit=1'))));

    const ids = new Set(responses.map((response) => header(response, 'X-Request-Id')));
    assert.equal(ids.size, 5, 'different ids of five responses');
  },
  async 'answers unknown, expired and revoked keys alike'(service) {
    const unknown = await responseTo(service, by('nobody-has-this-key', get('/pets')));
    for (const apiKey of ['{{expiredKey}}', '{{revokedKey}}', '{{managedKey}}0']) {
      const response = await responseTo(service, by(apiKey, get('/pets')));

      assert.deepEqual(response.body, unknown.body, apiKey);
      assert.deepEqual(lasting(response), lasting(unknown), apiKey);
    }
  },
  async 'serves every file of the docs page'(service) {
    const page = await responseTo(service, bare('GET', '/docs'));
    const policy = header(page, 'Content-Security-Policy');
    const links = textOf(page).matchAll(/ (?:href|src)="(?:\.\/)?(docs\/[\w./-]+)"/g);
    const files = Array.from(links, ([, file]) => `/${file}`);
    assert.ok(files.length > 1, `the page refers to the files ${files.join(', ')}`);
    for (const file of files) {
      const found = await statusIs(200, service, bare('GET', file), file);
      assert.equal(header(found, 'Content-Security-Policy'), policy, file);
      const known = bare('GET', file, ['If-None-Match', `"x", W/${header(found, 'ETag')}`]);
      await statusIs(304, service, known, `${file}, which the browser has`);
    }
  },
};

/** Clauses that only a socket can show: a Request is whole. */
const OVER_SOCKETS: Clauses<Scenario['run']> = {
  async 'keeps serving after requests whose bodies are malformed or end early'(service) {
    for (const raw of CUT_OFF) await service.send({ raw }, { responses: 0 });
    const [malformed = ''] = CUT_OFF; // the only one that the server answers, and then closes
    await service.send({ raw: malformed }, { untilClosed: true });
    await delay(20); // for the server to notice that the clients have closed

    await statusIs(200, service, get('/pets?limit=1'), 'a list afterwards');
  },
};

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
    const page: RawResponse = await responseTo(service, { ...get(''), target });
    assert.equal(page.status, 200, `the status of the page ${target}`);
    pages.push(page);
    const next = nextTarget(page);
    assert.notEqual(next, target, 'a page links to itself as the next one');
    target = next;
  }
  return pages;
}

const allIds = async (service: Ready): Promise<string[]> =>
  (await traverse(service, '/pets?limit=100')).flatMap(idsOf);

const VARYING = new Set(['date', 'x-request-id', 'content-length', 'transfer-encoding']);

/** The headers that are equal in equal responses. The length has a clause of its own. */
const lasting = (response: RawResponse): ReadonlyArray<readonly [string, string]> =>
  response.headers.filter(([name]) => !VARYING.has(name.toLowerCase()));
