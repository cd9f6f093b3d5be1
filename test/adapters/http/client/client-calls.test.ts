import { expect } from 'chai';
import { inspect } from 'node:util';
import {
  ServiceError,
  type AnimalStoreClient,
} from '../../../../src/adapters/http/client/index.js';
import {
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  UnavailableError,
  isAnimalStoreError,
} from '../../../../src/domain/errors.js';
import { rejectionOf } from '../../../contract/rejection.js';
import {
  API_KEY,
  BASE_URL,
  BELLA,
  bella,
  broken,
  errorJson,
  fakeService,
  html,
  json,
  type ClientCall,
  type Step,
} from './fake-service.js';

const MAX = 2n ** 63n - 1n;
const noRetries = { retries: 0 };

describe('animalStoreClient', () => {
  it('is a plain object: its functions need no this, and may be copied and proxied', async () => {
    const { client } = fakeService(json(200, BELLA));
    const one = client();
    const alone = Reflect.get(one, 'getPet');

    const animals = [
      alone(1n),
      { ...one }.getPet(1n),
      new Proxy(Object.assign(Object.create(null), one) as typeof one, {}).getPet(1n),
    ];

    for (const { name } of await Promise.all(animals)) expect(name).to.equal('Bella');
  });

  it('asks for a page with the given parameters only, without cookies or redirects', async () => {
    const { client, sent } = fakeService(json(200, '[]'));

    await client().listPets();
    await client({ baseUrl: new URL(`${BASE_URL}/`) }).listPets({
      limit: 5,
      status: 'sold',
      after: -MAX,
    });

    expect(sent.map(({ url }) => url)).to.deep.equal([
      `${BASE_URL}/pets`,
      `${BASE_URL}/pets?limit=5&status=sold&after=-9223372036854775807`,
    ]);
    expect(sent[0]?.init).to.include({
      method: 'GET',
      redirect: 'manual',
      credentials: 'omit',
      body: null,
    });
    expect(Object.fromEntries(sent[0]?.headers ?? [])).to.deep.equal({
      authorization: `Bearer ${API_KEY}`,
    });
  });

  it('sends an animal exactly, each under a key of its own', async () => {
    const { client, sent } = fakeService(json(201, BELLA));
    const animal = { name: 'Zoë "the\n🐕"', categoryId: MAX, status: 'sold' } as const;

    for (const pet of [animal, bella]) await client().createPet(pet);

    expect(sent[0]?.init).to.include({
      method: 'POST',
      body: '{"name":"Zoë \\"the\\n🐕\\"","categoryId":9223372036854775807,"status":"sold"}',
    });
    expect(sent[0]?.headers.get('content-type')).to.equal('application/json');
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).to.equal(2);
    for (const key of keys) expect(key).to.match(/^"[0-9]{1,20}-[0-9]{1,20}"$/);
  });

  it('sends the idempotency key of the caller in quotes, without its scope', async () => {
    const { client, sent } = fakeService(json(201, BELLA, { 'Idempotency-Replayed': 'true' }));
    const idempotencyKey = { scope: 'a-scope', key: "!#$%&'()*+,-./0:;<=>?@A[]^_`a{|}~" };

    const { replayed } = await client().createPet(bella, { idempotencyKey });

    expect(replayed).to.equal(true);
    expect(sent[0]?.headers.get('idempotency-key')).to.equal(`"${idempotencyKey.key}"`);
    expect(inspect(sent)).to.not.include('a-scope');
  });

  it('sends only what changes, and the status to start from', async () => {
    const { client, sent } = fakeService(json(200, BELLA));
    const change = { name: undefined, categoryId: MAX } as { categoryId: bigint };

    for (const from of [undefined, 'sold'] as const) await client().changePet(1n, change, { from });
    await client().removePet(2, { from: 'pending' });

    expect(sent.map(({ url, init }) => [init.method, url, init.body])).to.deep.equal([
      ['PATCH', `${BASE_URL}/pets/1`, '{"categoryId":9223372036854775807}'],
      ['PATCH', `${BASE_URL}/pets/1?from=sold`, '{"categoryId":9223372036854775807}'],
      ['DELETE', `${BASE_URL}/pets/2?from=pending`, null],
    ]);
  });

  for (const [what, call, type] of [
    ['an inexact number', (client) => client.createPet({ name: 'a', categoryId: 2 ** 53 })],
    ['a blank name', (client) => client.changePet(1n, { name: ' ' })],
    ['a limit of 101', (client) => client.listPets({ limit: 101 }), InvalidParameterError],
    [
      'an unknown status to start from',
      (client) => client.removePet(1n, { from: 'gone' as 'sold' }),
      InvalidParameterError,
    ],
    ['an id beyond int64', (client) => client.getPet(MAX + 1n), PetNotFoundError],
    ...['', 'a b', 'é', 'x'.repeat(256), '"quoted"'].map((key) => [
      `the idempotency key ${JSON.stringify(key.slice(0, 9))}`,
      (client: AnimalStoreClient) => client.createPet(bella, { idempotencyKey: { key } }),
      InvalidParameterError,
    ]),
  ] as ReadonlyArray<[string, ClientCall, (new (...given: never[]) => Error)?]>)
    it(`sends nothing for ${what}`, async () => {
      const { client, sent } = fakeService(json(200, BELLA));

      const error = await rejectionOf(call(client()));

      expect(error).to.be.instanceOf(type ?? InvalidPetError);
      expect(sent, 'requests').to.deep.equal([]);
    });

  for (const baseUrl of [
    '',
    'ftp://a.example/v1',
    'https://a.example',
    'https://a.example/v1?a=b',
    'https://user:password@a.example/v1',
  ])
    it(`refuses the address ${baseUrl}, and repeats no password`, () => {
      expect(() => fakeService().client({ baseUrl })).to.throw(
        TypeError,
        /^baseUrl (?!.*password).*ends in \/v1/,
      );
    });

  for (const apiKey of ['', 'a\nb', 'schlüssel-🔑', undefined as never])
    it(`refuses the key ${JSON.stringify(apiKey)}, and does not repeat it`, async () => {
      const { client } = fakeService(json(200, '[]'));
      const refused = /^apiKey is not a bearer token \(RFC 6750, section 2\.1\)$/;

      expect(() => client({ apiKey })).to.throw(TypeError, refused);
      const error = await rejectionOf(client({ apiKey: () => apiKey }).listPets());
      expect(error).to.have.property('message').that.matches(refused);
    });

  it('rejects as the function of the key does, without a request', async () => {
    const { client, sent } = fakeService(json(200, '[]'));
    const fault = new RangeError('the vault is closed');

    const rejection = await rejectionOf(client({ apiKey: () => Promise.reject(fault) }).listPets());

    expect(rejection).to.equal(fault);
    expect(sent, 'requests').to.deep.equal([]);
  });
});

describe('The responses of a service', () => {
  it('are read to the letter and the digit, without other members', async () => {
    const pet = '{"categoryId":-9223372036854775808,"name":"é🐕","id":7.0e1,"colour":1.5}';
    const { client } = fakeService(json(200, `[ ${pet} ]`));

    const { pets } = await client().listPets();

    expect(pets).to.deep.equal([
      { id: 70n, name: 'é🐕', categoryId: -(2n ** 63n), status: 'available' },
    ]);
    expect(pets[0]).to.be.frozen;
  });

  for (const [link, next] of [
    ['<?limit=5&after=7>; rel="next"', 7n],
    ['</a?after=1>; rel="prev", </b?after=-3>; rel="next"', -3n],
    ['<../pets?status=available>; rel="successor-version"', undefined],
  ] as const)
    it(`name the next page ${String(next)} by the Link ${link}`, async () => {
      const { client } = fakeService(json(200, '[]', { Link: link }));
      expect((await client().listPets()).next).to.equal(next);
    });

  for (const [what, step, status] of [
    ['a page of a proxy with status 200', html(200), 200],
    ['a list with something else in it', json(200, `[${BELLA},null]`), 200],
    ['a redirect', new Response('moved', { status: 308, headers: { Location: '/' } }), 308],
    ['a redirect as browsers hide it', async () => Response.error(), 0],
    ['an error whose code is no text', json(400, '{"code":5,"message":"Forbidden"}'), 400],
  ] as ReadonlyArray<[string, Step, number]>)
    it(`are unexpected and final: ${what}`, async () => {
      const { client, sent } = fakeService(step);

      const error = await rejectionOf(client().listPets());

      expect(error)
        .to.be.instanceOf(ServiceError)
        .and.include({ code: 'unexpected_response', status });
      expect(sent, 'requests').to.have.length(1);
    });

  for (const [status, code] of [
    [400, 'invalid_pet'],
    [400, 'invalid_parameter'],
    [404, 'pet_not_found'],
    [409, 'idempotency_conflict'],
    [409, 'status_conflict'],
    [422, 'idempotency_key_reused'],
    [503, 'service_unavailable'],
  ] as const)
    it(`become the error of the domain: ${code}`, async () => {
      const { client } = fakeService(errorJson(status, code, { 'Retry-After': '7' }));

      const error = await rejectionOf(client(noRetries).getPet(5n));

      expect(isAnimalStoreError(error) && error.code).to.equal(code);
      expect(error).to.have.property('message', `Message of ${code}.`);
      if (error instanceof PetNotFoundError) expect(error.petId).to.equal('5');
      if ('retryAfter' in (error as object)) expect(error).to.include({ retryAfter: 7 });
      expect(error)
        .to.have.property('cause')
        .that.is.instanceOf(ServiceError)
        .and.includes({ code, status, requestId: 'request-1', retryAfter: 7 });
    });

  for (const code of ['a_code_of_later', 'constructor'])
    it(`become a ServiceError with every detail: ${code}`, async () => {
      const error = await rejectionOf(fakeService(errorJson(418, code)).client().listPets());

      expect(error)
        .to.be.instanceOf(ServiceError)
        .and.include({
          code,
          status: 418,
          message: `Message of ${code}.`,
          requestId: 'request-1',
          retryAfter: undefined,
        });
    });

  for (const [what, step] of [
    ['502 of a proxy', html(502)],
    ['no response', new TypeError('fetch failed')],
    ['a response that breaks off', broken],
  ] as const)
    it(`become UnavailableError: ${what}`, async () => {
      const error = await rejectionOf(fakeService(step).client(noRetries).listPets());
      expect(error).to.be.instanceOf(UnavailableError).with.property('cause');
    });

  for (const [what, step] of [
    ['the network', new TypeError('fetch failed', { cause: new Error('ECONNRESET') })],
    ['an error of the domain', errorJson(400, 'invalid_pet')],
  ] as const)
    it(`reveal no key in an error, nor in its causes, after ${what}`, async () => {
      const { client, sent } = fakeService(step);

      const error = await rejectionOf(client(noRetries).createPet(bella));

      expect(sent[0]?.headers.get('authorization')).to.include(API_KEY);
      expect(inspect(error, { depth: Infinity, showHidden: true })).to.not.include(API_KEY);
    });
});

/** A page of animals, and where the next one is. */
const page = (ids: readonly number[], after?: number): Response =>
  json(
    200,
    `[${ids.map((id) => BELLA.replace('"id":1', `"id":${id}`)).join()}]`,
    after === undefined ? {} : { Link: `<?limit=2&after=${after}>; rel="next"` },
  );

describe('allPets', () => {
  for (const [what, query, pages, ids, queries] of [
    [
      'every page, the largest by default',
      {},
      [page([1, 2], 2), page([], 5), page([6])],
      [1n, 2n, 6n],
      ['?limit=100', '?limit=100&after=2', '?limit=100&after=5'],
    ],
    [
      'the given filter, page size and first id',
      { status: 'sold', limit: 2, after: 7n },
      [page([8, 9], 9), page([10])],
      [8n, 9n, 10n],
      ['?limit=2&status=sold&after=7', '?limit=2&status=sold&after=9'],
    ],
    [
      'what is behind a full page whose Link did not arrive',
      { limit: 2 },
      [page([1, 2]), page([3, 4]), page([])],
      [1n, 2n, 3n, 4n],
      ['?limit=2', '?limit=2&after=2', '?limit=2&after=4'],
    ],
  ] as const)
    it(`yields ${what}`, async () => {
      const { client, sent } = fakeService(...pages);

      const yielded: bigint[] = [];
      for await (const { id } of client().allPets(query)) yielded.push(id);

      expect(yielded).to.deep.equal(ids);
      expect(sent.map(({ url }) => new URL(url).search)).to.deep.equal(queries);
    });
});
