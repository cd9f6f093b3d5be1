import { inspect } from 'node:util';
import { expect } from 'chai';
import type { AnimalStore } from '../../../../src/application/animal-store.js';
import { InvalidParameterError, InvalidPetError } from '../../../../src/domain/errors.js';
import { petWithId, unsavedPet } from '../../../../src/domain/pet.js';
import { rejectionOf } from '../../../contract/rejection.js';
import {
  API_KEY,
  BASE_URL,
  BELLA,
  bella,
  errorJson,
  fakeService,
  html,
  json,
  never,
  useIdleTime,
  type Step,
} from './fake-service.js';

describe('The requests of AnimalStoreClient', () => {
  useIdleTime();

  it('ask for a page with the given parameters only, without cookies or redirects', async () => {
    const { client, sent } = fakeService(json(200, '[]'));

    await client().listPets();
    await client().listPets({ limit: 5, status: 'sold', after: -(2n ** 63n) });

    expect(sent.map(({ url }) => url)).to.deep.equal([
      `${BASE_URL}/pets`,
      `${BASE_URL}/pets?limit=5&status=sold&after=-9223372036854775808`,
    ]);
    expect(sent[0]?.init).to.include({ method: 'GET', redirect: 'manual', credentials: 'omit' });
    expect(sent[0]?.init.body).to.equal(null);
    expect(Object.fromEntries(sent[0]?.headers ?? [])).to.deep.equal({
      accept: 'application/json',
      authorization: `Bearer ${API_KEY}`,
    });
  });

  it('send an animal exactly, each under a key of its own', async () => {
    const animal = { name: 'Zoë "the\n🐕"', categoryId: 2n ** 63n - 1n, status: 'sold' } as const;
    const { client, sent } = fakeService(json(201, BELLA));
    const created = [animal, bella, bella].map((pet) =>
      client()
        .createPet(pet)
        .catch(() => {}),
    );

    await Promise.all(created);

    expect(sent[0]?.url).to.equal(`${BASE_URL}/pets`);
    expect(sent[0]?.init.method).to.equal('POST');
    expect(sent[0]?.init.body).to.equal(
      '{"name":"Zoë \\"the\\n🐕\\"","categoryId":9223372036854775807,"status":"sold"}',
    );

    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));

    expect(new Set(keys).size).to.equal(3);
    for (const key of keys) expect(key).to.match(/^"[0-9]{1,20}-[0-9]{1,20}"$/);

    const { authorization, ...headers } = Object.fromEntries(sent[0]?.headers ?? []);

    expect(authorization).to.equal(`Bearer ${API_KEY}`);
    expect(headers).to.include({ accept: 'application/json', 'content-type': 'application/json' });
  });

  it('send only what changes, and the start as a status or an ETag', async () => {
    const { client, sent } = fakeService(json(200, BELLA));
    const change = { name: undefined, categoryId: 2n ** 63n - 1n } as { categoryId: bigint };

    for (const from of [undefined, 'sold', petWithId(1n, unsavedPet(bella))] as const)
      await client().changePet(1n, change, { from });

    expect(sent.map(({ url, headers }) => [url, headers.has('if-match')])).to.deep.equal([
      [`${BASE_URL}/pets/1`, false],
      [`${BASE_URL}/pets/1?from=sold`, false],
      [`${BASE_URL}/pets/1`, true],
    ]);
    expect(sent[2]?.headers.get('if-match')).to.match(/^"[\w-]{22}"$/);
    for (const { init } of sent)
      expect(init).to.include({ method: 'PATCH', body: '{"categoryId":9223372036854775807}' });
  });

  it('carry the idempotency key of the caller in quotes, without its scope', async () => {
    const { client, sent } = fakeService(json(201, BELLA, { 'Idempotency-Replayed': 'true' }));
    const key = String.fromCharCode(...Array.from({ length: 94 }, (_, at) => 33 + at)).replaceAll(
      /["\\]/g,
      '',
    );
    const animalStore: AnimalStore = client();

    const { replayed } = await animalStore.createPet(bella, {
      idempotencyKey: { scope: 'a-scope', key },
    });

    expect(replayed).to.equal(true);
    expect(sent[0]?.headers.get('idempotency-key')).to.equal(`"${key}"`);
    expect(JSON.stringify([...(sent[0]?.headers ?? [])])).to.not.include('a-scope');
  });

  it('do not count a retry of the client itself as a replay', async () => {
    const { client } = fakeService(
      new TypeError('lost'),
      json(201, BELLA, { 'Idempotency-Replayed': 'true' }),
    );

    expect((await client().createPet(bella)).replayed).to.equal(false);
  });

  for (const key of ['', 'a b', 'a"b', 'a\\b', 'é', '\n', '\u007f', 'x'.repeat(256), '"quoted"']) {
    it(`refuse a key that no header can carry: ${JSON.stringify(key.slice(0, 9))}`, async () => {
      const { client, sent } = fakeService(json(201, BELLA));

      const error = await rejectionOf(client().createPet(bella, { idempotencyKey: { key } }));

      expect(error).to.be.instanceOf(InvalidParameterError);
      expect(sent, 'requests').to.deep.equal([]);
    });
  }

  it('are not made for an invalid animal or query', async () => {
    const { client, sent } = fakeService(json(201, BELLA));

    const error = await rejectionOf(client().createPet({ name: ' ', categoryId: 2 ** 53 }));

    expect(error).to.be.instanceOf(InvalidPetError).and.have.property('faults').with.length(2);
    expect(await rejectionOf(client().listPets({ limit: 101 }))).to.be.instanceOf(
      InvalidParameterError,
    );
    expect(sent, 'requests').to.deep.equal([]);
  });

  it('carry one API key in all attempts of a call', async () => {
    const { client, sent } = fakeService(errorJson(503, 'service_unavailable'), json(201, BELLA));
    const keys = ['first-key', 'second-key'];

    await client({ apiKey: async () => keys.shift() ?? '' }).createPet(bella);

    expect(sent.map(({ headers }) => headers.get('authorization'))).to.deep.equal([
      'Bearer first-key',
      'Bearer first-key',
    ]);
  });

  it('are not made without an API key: the call rejects as its function does', async () => {
    const { client, sent } = fakeService(json(200, '[]'));
    const fault = new RangeError('the vault is closed');

    const rejection = await rejectionOf(client({ apiKey: () => Promise.reject(fault) }).listPets());

    expect(rejection).to.equal(fault);
    expect(sent, 'requests').to.deep.equal([]);
  });
});

describe('The options of AnimalStoreClient', () => {
  const { client, sent } = fakeService(json(200, '[]'));

  it('take an address with a slash at its end, and a URL', async () => {
    await client({ baseUrl: `${BASE_URL}/` }).listPets();
    await client({ baseUrl: new URL(BASE_URL) }).listPets();

    expect(sent.map(({ url }) => url)).to.deep.equal([`${BASE_URL}/pets`, `${BASE_URL}/pets`]);
  });

  it('do not take another address, and repeat no password', () => {
    const paths = ['', '/v2', '/xv1', '/v1/pets', '/v1?a=b', '/v1#a'].map(
      (path) => `https://a.example${path}`,
    );
    const users = ['https://user:password@a.example/v1', 'https://user@a.example/v1'];

    for (const baseUrl of ['', '/v1', 'a.example/v1', 'ftp://a.example/v1', ...paths, ...users])
      expect(() => client({ baseUrl }), baseUrl).to.throw(
        TypeError,
        /^baseUrl (?!.*password).*ends in \/v1, without user, query and fragment/,
      );
  });

  for (const apiKey of ['', 'a b', 'a\nb', 'schlüssel-🔑', 'a=b']) {
    it(`do not take ${JSON.stringify(apiKey)} as a key, and do not repeat it`, async () => {
      const refused = /^apiKey is not a bearer token \(RFC 6750, section 2\.1\)$/;

      expect(() => client({ apiKey })).to.throw(TypeError, refused);

      const error = await rejectionOf(client({ apiKey: () => apiKey }).listPets());

      expect(error).to.be.instanceOf(TypeError).with.property('message').that.matches(refused);
    });
  }

  it('do not take numbers that no timer or count can be', () => {
    expect(() => client({ callDeadline: 2 ** 31 - 1, retries: 2 ** 31 - 1 })).to.not.throw();

    const wrong = {
      callDeadline: [0, 1.5, NaN, 2 ** 31],
      retries: [-1, 0.5, Infinity],
    };

    for (const [name, values] of Object.entries(wrong))
      for (const value of values)
        expect(() => client({ [name]: value })).to.throw(TypeError, new RegExp(`^${name} `));
  });
});

describe('The API key of AnimalStoreClient', () => {
  useIdleTime();

  it('cannot be read from the client', () => {
    const { client } = fakeService(json(200, '[]'));
    const one = client();
    const texts = [
      Object.prototype.toString.call(one),
      JSON.stringify(one),
      inspect(one, { depth: Infinity, showHidden: true, showProxy: true }),
      ...Reflect.ownKeys(one).map(String),
    ];

    for (const text of texts) expect(text).to.not.include(API_KEY);
    expect(() => structuredClone(one)).to.not.throw();
  });

  const FAILURES: ReadonlyArray<readonly [string, Step]> = [
    ['the network', new TypeError('fetch failed', { cause: new Error('ECONNRESET') })],
    ['a deadline', never],
    ['an error of the domain', errorJson(400, 'invalid_pet')],
    ['a page of a proxy', html(500)],
  ];
  for (const [what, step] of FAILURES) {
    it(`is in no error after ${what}, nor in its causes`, async () => {
      const { client, sent } = fakeService(step);

      const error = await rejectionOf(client({ retries: 1 }).createPet(bella));

      expect(sent[0]?.headers.get('authorization'), 'what was sent').to.include(API_KEY);
      expect(inspect(error, { depth: Infinity, showHidden: true })).to.not.include(API_KEY);
    });
  }
});
