import assert from 'node:assert/strict';
import { expect } from 'chai';
import { errorResponse } from '../../../src/adapters/http/error-responses.js';
import type {
  HttpInterfaceOptions,
  HttpRequest,
  HttpResponse,
  HttpSettings,
} from '../../../src/adapters/http/index.js';
import { Readiness } from '../../../src/adapters/http/index.js';
import { DEFAULT_HTTP_SETTINGS } from '../../../src/adapters/http/http-settings.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { AdmissionControl } from '../../../src/adapters/http/node/index.js';
import { OPERATIONS } from '../../../src/adapters/http/operations.js';
import type { Authenticator, Principal } from '../../../src/application/ports/authenticator.js';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import { UnavailableError } from '../../../src/domain/errors.js';
import {
  KEY,
  KeptLog,
  REX,
  anyKey,
  createWith,
  failing,
  httpInterface,
  leaving,
  memoryAnimalStore,
  outcome,
  requestWith,
  settled,
} from './fixtures.js';

const fails = (): never => {
  throw new Error('the disk is full');
};

type Made = Partial<HttpInterfaceOptions> & { readonly pets?: PetRepository };

/** What the host is told of a GET with a valid key. */
async function faultOf(options: Made, path = '/v1/pets'): Promise<Error | undefined> {
  const { fault } = await httpInterface(options).handle(requestWith(KEY, { path }));
  return fault;
}

/** The response to a GET without a key. */
const openGet = (path: string, options: Made, originalPath?: string): Promise<HttpResponse> =>
  httpInterface(options).handle(requestWith({}, { path, originalPath }));

describe('HttpInterface', () => {
  describe('on a store that keeps no idempotency keys', () => {
    const pets = { ...openMemoryStore().pets, addOnce: undefined };

    it('refuses one with 400 and says so, stores nothing, and creates without one', async () => {
      const http = httpInterface({ pets });
      const headers: Record<string, string> = { ...KEY, 'idempotency-key': 'k' };

      const refused = await http.handle(createWith(REX, { header: (name) => headers[name] }));
      const stored = await pets.list({ limit: 1 });
      const created = await http.handle(createWith(REX));

      expect(outcome(refused)).to.equal('400 invalid_parameter');
      expect(refused.body).to.include('the store keeps no idempotency keys');
      expect(stored, 'stored by the refused request').to.deep.equal([]);
      expect(outcome(created)).to.equal('201');
    });

    for (const path of ['/docs', '/openapi.json'])
      it(`says nothing of them at ${path}`, async () => {
        const { body } = await openGet(path, { pets, docs: [] });

        expect(body.match(/.{0,60}idempotency.{0,60}/gi) ?? []).to.deep.equal([]);
      });
  });

  describe('settings', () => {
    it('have their defaults where they are undefined', () => {
      const names = Object.keys(DEFAULT_HTTP_SETTINGS);
      const unset = Object.fromEntries(names.map((name) => [name, undefined]));

      const { settings } = httpInterface({ settings: { ...unset, getPet: 'off' } });

      expect(settings).to.deep.equal({ ...DEFAULT_HTTP_SETTINGS, getPet: 'off' });
    });

    it('name no experimental operation that the animal store does not have', () => {
      const settings = { experimental: ['removePet'] } as const;
      expect(() => httpInterface({ settings })).to.throw(TypeError, /has no removePet/);
    });

    for (const [title, settings, sources] of [
      [
        'publicUrl may be a path: the docs page then calls its own origin only',
        { publicUrl: '/shop/v1' },
        "'self'",
      ],
      [
        'publicUrl and stagingUrl are addresses that the docs page may call',
        { publicUrl: 'https://a.example/v1', stagingUrl: 'https://b.example/shop/v1' },
        "'self' https://a.example https://b.example",
      ],
      [
        'an address of IPv6 is left out of the policy of the docs page, which cannot name it',
        { publicUrl: 'http://[::1]:8080/v1', stagingUrl: 'https://[2001:db8::1]/v1' },
        "'self'",
      ],
      [
        'so is a host that no policy can name, such as one of Docker with an underscore',
        { publicUrl: 'http://animal_store:8080/v1', stagingUrl: 'HTTP://a;b/v1' },
        "'self'",
      ],
    ] as const) {
      it(title, async () => {
        const { headers } = await openGet('/docs', { docs: [], settings });
        expect(headers['Content-Security-Policy']).to.include(`; connect-src ${sources}; `);
      });
    }

    it('an address that no policy can name is left out of those that the docs page offers', async () => {
      const settings = { publicUrl: 'http://[::1]:8080/v1', stagingUrl: 'https://a_b/v1' };
      const { body } = await openGet('/docs', { docs: [], settings });
      expect(body).to.include('<option value="v1">This service</option></select>');
    });
  });

  describe('the log', () => {
    const log = new KeptLog();
    const { lines } = log;
    beforeEach(() => void lines.splice(0));

    it('gets the cause of a 500, of which the response reveals only the request id', async () => {
      const fault = new Error('hunter2');
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      const sent = { ...KEY, 'x-request-id': 'r-1', 'user-agent': 'till/2', traceparent };
      const request = requestWith(sent, { query: 'limit=1', remoteAddress: '192.0.2.1' });
      const http = httpInterface({ animalStore: failing(fault), log });

      const { status, headers, body } = await http.handle(request);

      expect(status).to.equal(500);
      expect(body).to.include('r-1').and.not.include('hunter2');
      expect(headers).to.include({ 'X-Request-Id': 'r-1', 'X-Content-Type-Options': 'nosniff' });
      const [{ milliseconds, sunset: _, ...logged } = { milliseconds: -1 }] = lines;
      expect(milliseconds).to.be.within(0, 10_000);
      expect(logged).to.deep.equal({
        requestId: 'r-1',
        method: 'GET',
        path: '/v1/pets',
        operation: 'listPets',
        isProbe: undefined,
        clientAddress: '192.0.2.1',
        userAgent: 'till/2',
        traceparent,
        keyId: 'any',
        keyFault: undefined,
        status: 500,
        code: 'internal_error',
        error: fault,
        bytes: body.length,
      });
    });

    it('gets no failure and no key id of a request that was refused', async () => {
      const authenticator: Authenticator = {
        authenticate: async () => ({ ok: false, reason: 'revoked' }),
      };

      await httpInterface({ authenticator, log }).handle(requestWith(KEY));

      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ status: 401, code: 'invalid_api_key', keyId: undefined });
      expect(log.failures).to.deep.equal([]);
    });

    it('has no address of a client if the host cannot tell it, and changes no response', async () => {
      const http = httpInterface({ log, clientAddress: fails });

      const created = await http.handle(createWith(REX, { remoteAddress: '192.0.2.1' }));

      expect(outcome(created)).to.equal('201');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ status: 201, clientAddress: undefined });
    });

    it('gets the length of a body in bytes, not in characters', async () => {
      const { body } = await httpInterface({ log }).handle(createWith(REX.replace('Rex', 'Жучка')));
      expect(lines[0]).to.include({ status: 201, bytes: Buffer.byteLength(body) });
    });

    for (const [status, expected, animalStore] of [
      ['a success', '200', memoryAnimalStore()],
      ['a failure', '500 internal_error', failing(new Error('the disk is full'))],
    ] as const) {
      it(`does not change ${status} when it fails`, async () => {
        const http = httpInterface({ log: { responded: fails }, animalStore });
        expect(outcome(await http.handle(requestWith(KEY)))).to.equal(expected);
      });
    }
  });

  describe('Location and Link', () => {
    for (const [what, paths, settings, base] of [
      ['have the base path', {}, {}, '/v1'],
      [
        'have the prefix that the host has removed',
        { originalPath: '/shop/v1/pets' },
        {},
        '/shop/v1',
      ],
      ['have the prefix that a router kept', { path: '/shop/v1/pets' }, {}, '/shop/v1'],
      [
        'have the prefixes of both',
        { path: '/a/v1/pets', originalPath: '/b/a/v1/pets' },
        {},
        '/b/a/v1',
      ],
      [
        'have a prefix as it was encoded',
        { originalPath: '/a%2Fb%20c/v1/pets' },
        {},
        '/a%2Fb%20c/v1',
      ],
      ['have no prefix of a rewritten path', { originalPath: '/a/b/elsewhere/animals' }, {}, '/v1'],
      [
        'have no prefix of what is no path',
        { originalPath: 'ftp://evil.example/v1/pets' },
        {},
        '/v1',
      ],
      ['have a longer base path once', { path: '/x/y/v1/pets' }, { basePath: '/y/v1' }, '/x/y/v1'],
      ['never begin a host', { originalPath: '//evil.example/v1/pets' }, {}, '/evil.example/v1'],
      ['never end a link early', { originalPath: '/a>; b/v1/pets' }, {}, '/a%3E;%20b/v1'],
      [
        'have the public URL instead',
        { originalPath: '/shop/v1/pets' },
        { publicUrl: '/x/v1' },
        '/x/v1',
      ],
      [
        'have a public URL in ASCII',
        {},
        { publicUrl: 'https://例え.jp/ä/v1' },
        'https://xn--r8jz45g.jp/%C3%A4/v1',
      ],
      ['have a public path in ASCII', {}, { publicUrl: '/ä b%20c/v1' }, '/%C3%A4%20b%20c/v1'],
    ] as ReadonlyArray<[string, Partial<HttpRequest>, Partial<HttpSettings>, string]>) {
      it(what, async () => {
        const http = httpInterface({ settings });
        const [pets, pet] = http.routes;
        assert.ok(pets && pet);
        const onPets = { route: pets, parameters: {} };
        const ofPet = Object.entries(paths).map(([name, path]) => [name, `${String(path)}/1`]);
        const getPet = requestWith(KEY, { path: '/v1/pets/1', ...Object.fromEntries(ofPet) });

        const created = await http.handle(createWith(REX, paths), onPets);
        await http.handle(createWith(REX, paths), onPets);
        const list = await http.handle(requestWith(KEY, { ...paths, query: 'limit=1' }), onPets);
        const got = await http.handle(getPet, { route: pet, parameters: { petId: '1' } });

        expect(created.headers).to.include({ Location: `${base}/pets/1` });
        expect(list.headers).to.include({ Link: `<${base}/pets?limit=1&after=1>; rel="next"` });
        expect(got.headers).to.include({
          Link: `<${base}/pets?status=available>; rel="successor-version"`,
        });
      });
    }

    for (const [originalPath, location] of [
      [undefined, 'docs'],
      ['/shop/', 'docs'],
      ['/in/shop', './shop/docs'],
      ['/https:evil.example', './https:evil.example/docs'],
      ['/a">b', './a%22%3Eb/docs'],
    ]) {
      it(`of / lead to the docs page where the client sent ${originalPath ?? '/'}`, async () => {
        const { headers } = await openGet('/', { docs: [] }, originalPath);
        expect(headers).to.include({ Location: location });
      });
    }
  });

  it('keeps the link to the next page of a deprecated operation beside that to its successor', async () => {
    Object.assign(OPERATIONS.listPets, { deprecation: OPERATIONS.getPet.deprecation });
    try {
      const http = httpInterface();
      await http.handle(createWith(REX));
      await http.handle(createWith(REX));

      const { headers } = await http.handle(requestWith(KEY, { query: 'limit=1' }));

      expect(headers['Link']).to.equal(
        '</v1/pets?status=available>; rel="successor-version", </v1/pets?limit=1&after=1>; rel="next"',
      );
    } finally {
      Reflect.deleteProperty(OPERATIONS.listPets, 'deprecation');
    }
  });

  describe('tells the host', () => {
    const fault = new Error('the disk is full');
    const unreachable = new UnavailableError('asking the store');

    it('of faults, which are 500 and above', async () => {
      expect(await faultOf({ animalStore: failing(fault) })).to.equal(fault);
      expect(await faultOf({ animalStore: failing(unreachable) })).to.equal(unreachable);
    });

    it('of an Error, whose cause is what was thrown if that was none', async () => {
      const told = await faultOf({ animalStore: failing('a text') });
      expect(told).to.be.instanceOf(Error).with.property('cause', 'a text');
    });

    for (const [what, options, path] of [
      ['refusals for being busy', { admission: new AdmissionControl({ maxInFlight: 0 }) }],
      ['health checks', { readiness: new Readiness(() => Promise.reject(unreachable)) }, '/readyz'],
      ['an unknown animal', {}, '/v1/pets/1'],
    ] as ReadonlyArray<[string, Made, string?]>) {
      it(`nothing of ${what}`, async () => {
        expect(await faultOf(options, path)).to.equal(undefined);
      });
    }
  });

  describe('tells the transport who is calling', () => {
    const callers: Principal[] = [];
    const request = requestWith(KEY, { onAuthenticated: (principal) => callers.push(principal) });
    beforeEach(() => void callers.splice(0));

    it('once the key is known to be valid', async () => {
      await httpInterface().handle(request);
      expect(callers.map(({ keyId }) => keyId)).to.deep.equal(['any']);
    });

    it('but not of a client that left meanwhile', async () => {
      const { request: left, leave } = leaving(request);
      const authenticator: Authenticator = {
        authenticate(credential, options) {
          leave();
          return anyKey.authenticate(credential, options);
        },
      };

      await httpInterface({ authenticator }).handle(left);
      await settled();

      expect(callers).to.deep.equal([]);
    });
  });

  const off: Made = { settings: { getPet: 'off' } };
  for (const [what, headers, method, options, expected, ...logged] of [
    ['GET', KEY, 'GET', {}, '404 pet_not_found', 'getPet', 'any', 2030],
    ['HEAD', KEY, 'HEAD', {}, '404 pet_not_found', 'getPet', 'any', 2030],
    ['a GET once it is removed', KEY, 'GET', off, '410 operation_removed', 'getPet', 'any', 2030],
    ['a GET without a key', {}, 'GET', {}, '401 missing_api_key', 'getPet', undefined, 2030],
  ] as const) {
    it(`logs of ${what} of a deprecated operation when it will be removed`, async () => {
      const log = new KeptLog();
      const request = requestWith(headers, { method, path: '/v1/pets/1' });

      const response = await httpInterface({ log, ...options }).handle(request);

      const [line] = log.lines;
      expect(outcome(response)).to.equal(expected);
      expect([line?.operation, line?.keyId, line?.sunset?.getUTCFullYear()]).to.deep.equal(logged);
    });
  }

  it('serves no caller whose authenticator forgets to say who it is', async () => {
    const authenticator = { authenticate: async () => ({ ok: true, keyId: 'k', scopes: [] }) };
    const untyped = { authenticator: authenticator as unknown as Authenticator };

    const { status, fault } = await httpInterface(untyped).handle(requestWith(KEY));

    expect(status).to.equal(500);
    expect(fault).to.have.property(
      'message',
      'The authenticator accepts a key without `principal`',
    );
  });

  it('logs no operation of a method that a path does not support', async () => {
    const log = new KeptLog();
    const request = requestWith(KEY, { method: 'DELETE', path: '/v1/pets/1' });

    const response = await httpInterface({ log }).handle(request);

    expect(outcome(response)).to.equal('405 method_not_allowed');
    expect(log.lines[0]).to.include({ operation: undefined, sunset: undefined, keyId: 'any' });
  });
});

describe('errorResponse', () => {
  it('recognizes an error of another copy of the package by its code', () => {
    const error = Object.assign(new Error('No animal has this identifier.'), {
      code: 'pet_not_found',
    });
    expect(errorResponse(error, 'r-1')).to.include({ status: 404, code: 'pet_not_found' });
  });

  for (const [what, thrown] of [
    ['an error of the system', Object.assign(new Error('hunter2'), { code: 'EACCES' })],
    ['an object with a code', { code: 'pet_not_found', message: 'hunter2' }],
    ['undefined', undefined],
  ] as const) {
    it(`reveals only the request id of ${what} that nobody expected`, () => {
      expect(JSON.parse(errorResponse(thrown, 'r-1').body)).to.deep.equal({
        code: 'internal_error',
        message: 'Internal error. Report request id r-1.',
        status: 500,
      });
    });
  }
});
