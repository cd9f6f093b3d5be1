import { expect } from 'chai';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { MongoProxy } from '../adapters/mongodb/mongo-proxy.js';
import { describeOnMongo, uriOf, withDatabase } from '../adapters/mongodb/mongo-server.js';
import { inDatabase } from '../adapters/mongodb/mongo-store-tests.js';
import { KEY, cleanUp, program, startedService, temporaryFolder } from './running-service.js';
import { StoreClient, type Received } from './store-client.js';

const CODED = {
  object: encodeURIComponent('{"$gt":""}'),
  operator: encodeURIComponent('$where'),
};

/** What a client may send in the hope that it becomes a part of a query, and the status of the answer. */
const HOSTILE: ReadonlyArray<readonly [status: number, method: string, target: string, body?: string]> = [
  [404, 'GET', `/pets/${CODED.object}`],
  [404, 'GET', `/pets/${CODED.operator}`],
  [404, 'GET', '/pets/[$ne]'],
  [400, 'GET', `/pets?status=${CODED.object}`],
  [400, 'GET', `/pets?status=${CODED.operator}`],
  [200, 'GET', '/pets?status[$ne]=sold'],
  [200, 'GET', '/pets?status%5B%24ne%5D=sold'],
  [400, 'GET', `/pets?limit=${CODED.object}`],
  [400, 'GET', `/pets?cursor=${CODED.object}`],
  [400, 'POST', '/pets', '{"name":{"$gt":""},"categoryId":1}'],
  [400, 'POST', '/pets', '{"name":"a","categoryId":{"$gt":0}}'],
  [400, 'POST', '/pets', '{"name":"a","categoryId":1,"status":{"$ne":"sold"}}'],
  [400, 'POST', '/pets', '[{"$where":"sleep(1000)"}]'],
  [201, 'POST', '/pets', '{"name":"$where","categoryId":1}'],
  [201, 'POST', '/pets', '{"name":"{\\"$gt\\":\\"\\"}","categoryId":1}'],
  [
    201,
    'POST',
    '/pets',
    '{"name":"a","categoryId":1,"$set":{"name":"b"},"_id":{"$gt":""},"__proto__":{"$or":[]}}',
  ],
];

const KEYS = ['ast_live_{"$gt":""}_x_y', '{"$ne":null}', '$where', 'ast_live_$where000_x_y'];

/** Idempotency keys: they become a part of a document's `_id`. */
const TOKENS = ['{$gt:1}', '$where', '[$ne]', '{$regex:.*}'];

/** Every name with a `$` in a document, with its value, however deep. */
function operatorsIn(value: unknown): Array<readonly [name: string, value: unknown]> {
  if (Array.isArray(value)) return value.flatMap(operatorsIn);
  if (value === null || typeof value !== 'object' || '_bsontype' in value) return [];
  const members = Object.entries(value);
  return [
    ...members.filter(([name]) => name.startsWith('$')),
    ...members.flatMap(([, inner]) => operatorsIn(inner)),
  ];
}

const isValue = (value: unknown): boolean =>
  typeof value !== 'object' || (value !== null && '_bsontype' in value);

const queriesOf = ({ filter, query, pipeline, updates = [] }: Document): unknown[] => [
  filter,
  query,
  pipeline,
  ...(updates as Document[]).map(({ q }) => q as unknown),
];

const ask = (url: string, method = 'GET', body?: string, key = KEY): Promise<Received> =>
  new StoreClient(key, false).send(method, url, body);

describeOnMongo('A service on MongoDB', (server) => {
  afterEach(cleanUp);

  const throughProxy = (
    test: (url: string, proxy: MongoProxy, database: string) => Promise<void>,
    settings: Readonly<Record<string, string>> = {},
  ): (() => Promise<void>) =>
    inDatabase(server, async (database) => {
      const proxy = await new MongoProxy(server).open();
      try {
        const STORE_URL = uriOf(server, database, { host: proxy.host });
        const { url } = await startedService(await temporaryFolder(), { ...settings, STORE_URL });
        await test(url, proxy, database);
      } finally {
        await cleanUp();
        await proxy.close();
      }
    });

  it(
    'has nothing that a client sends be more than a value in a query',
    throughProxy(async (url, proxy, database) => {
      await ask(`${url}/pets`, 'POST', '{"name":"Bella","categoryId":1,"status":"sold"}');
      proxy.commands.length = 0;
      for (const [status, method, target, body] of HOSTILE) {
        const answer = await ask(url + target, method, body);
        expect(answer.status, `${method} ${target} ${body ?? ''}: ${answer.body}`).to.equal(status);
      }
      for (const key of KEYS) expect((await ask(`${url}/pets`, 'GET', undefined, key)).status).to.equal(401);

      for (const token of TOKENS) {
        const create = (name: string): Promise<Response> =>
          fetch(`${url}/pets`, {
            method: 'POST',
            headers: {
              Authorization: `Bearer ${KEY}`,
              'Content-Type': 'application/json',
              'Idempotency-Key': token,
            },
            body: JSON.stringify({ name, categoryId: 1 }),
          });
        const [first, again, other] = [await create(token), await create(token), await create('another')];
        expect([first.status, again.status, other.status], token).to.deep.equal([201, 201, 422]);
      }

      const queries = proxy.commands.flatMap(queriesOf);
      const operators = queries.flatMap(operatorsIn);
      expect(new Set(operators.map(([name]) => name))).to.deep.equal(new Set(['$gt', '$eq']));
      expect(operators.every(([, value]) => isValue(value))).to.equal(true);
      for (const query of queries) {
        const { _id: { $eq: id } = {} } = (query ?? {}) as { readonly _id?: { readonly $eq?: unknown } };
        // The key of a claim is in the text of its _id, and nowhere else.
        if (typeof id === 'string') expect(TOKENS).to.include((JSON.parse(id) as unknown[])[1]);
        else expect(JSON.stringify(query ?? {})).to.not.match(/where|ne\b|regex/);
      }
      await withDatabase(server, database, async (client) => {
        const stored = await client.db().collection('pets').find().sort({ _id: 1 }).toArray();
        expect(stored.map(({ name }) => name as unknown)).to.deep.equal([
          'Bella',
          '$where',
          '{"$gt":""}',
          'a',
          ...TOKENS,
        ]);
        for (const document of stored) {
          expect(Object.keys(document).sort()).to.deep.equal([
            '_id',
            'categoryId',
            'name',
            'operation',
            'status',
          ]);
        }
      });
    }),
  );

  it(
    'takes the id of a key from the command line as a value',
    throughProxy(async (_, proxy, database) => {
      const STORE_URL = uriOf(server, database, { host: proxy.host });
      const folder = await temporaryFolder();
      await program(folder, ['keys', 'issue', '--name', '$where'], { STORE_URL }).ended;
      proxy.commands.length = 0;
      for (const id of ['{"$ne":null}', '$where']) {
        const { code, err } = await program(folder, ['keys', 'revoke', id], { STORE_URL }).ended;
        expect({ code, err }).to.deep.equal({ code: 1, err: 'No API key has this id.\n' });
      }
      const asked = proxy.commands.filter((command) => command['find'] === 'apiKeys');
      expect(asked.map(({ filter }) => (filter as Document)['_id'] as unknown)).to.deep.equal([
        { $eq: '{"$ne":null}' },
        { $eq: '$where' },
      ]);
    }),
  ).timeout(60_000);

  it(
    'leaves no work behind of a client that gives up: its add never comes to the database, its place is free at once',
    throughProxy(
      async (url, proxy) => {
        await ask(`${url}/pets`);
        await proxy.close();
        await givingUp(`${url}/pets`, '{"name":"given up","categoryId":1}');
        await untilFree(url);
        await proxy.open();
        await untilServed(url);
        expect((await ask(`${url}/pets`, 'POST', '{"name":"Bella","categoryId":1}')).status).to.equal(201);
        expect([...(await new StoreClient(KEY, false).all(url)).values()]).to.deep.equal(['Bella']);
        expect(JSON.stringify(proxy.commands)).to.not.include('given up');
      },
      { MAX_IN_FLIGHT: '1', REQUEST_DEADLINE: '60s' },
    ),
  );

  it(
    'ends what a client that gave up was waiting for: the connection that nothing comes from is closed',
    throughProxy(
      async (url, proxy) => {
        await ask(`${url}/pets`);
        const asked = Promise.withResolvers<{ readonly gone: Promise<unknown> }>();
        proxy.onCommand = (name, _, gone) => {
          if (name !== 'find') return undefined;
          proxy.onCommand = () => undefined;
          asked.resolve({ gone });
          return gone;
        };
        const client = request(`${url}/pets`, { headers: { authorization: `Bearer ${KEY}` } });
        client.on('error', () => {}).end();
        const { gone } = await asked.promise;
        client.destroy();
        const began = performance.now();
        await gone;
        expect(performance.now() - began).to.be.below(1900); // before the store itself gives up
        expect((await ask(`${url}/pets`)).status).to.equal(200);
      },
      { MAX_IN_FLIGHT: '1', REQUEST_DEADLINE: '60s' },
    ),
  );
});

/** Sends a request, and goes away while it waits. */
async function givingUp(url: string, body: string): Promise<void> {
  const client = request(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-length': Buffer.byteLength(body) },
  });
  client.on('error', () => {}).end(body);
  await delay(200);
  client.destroy();
}

/** Waits until a request is let in: the only place is free. */
async function untilFree(url: string): Promise<void> {
  const began = performance.now();
  for (;;) {
    const { body } = await new StoreClient(KEY, false).send('POST', `${url}/pets`, 'not JSON');
    if (body.includes('malformed_json')) return;
    if (performance.now() - began > 5000) throw new Error(`still taken: ${body}`);
    await delay(10);
  }
}

async function untilServed(url: string): Promise<void> {
  const began = performance.now();
  while ((await new StoreClient(KEY, false).get(`${url}/pets`)).status !== 200) {
    if (performance.now() - began > 10_000) throw new Error('it does not come back');
    await delay(10);
  }
}
