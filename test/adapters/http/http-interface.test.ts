import { expect } from 'chai';
import { errorResponse } from '../../../src/adapters/http/error-responses.js';
import type {
  HttpInterfaceOptions,
  HttpRequest,
  HttpSettings,
} from '../../../src/adapters/http/index.js';
import { DEFAULT_HTTP_SETTINGS, Readiness } from '../../../src/adapters/http/index.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { AdmissionControl } from '../../../src/adapters/http/node/index.js';
import { OPERATIONS } from '../../../src/adapters/http/operations.js';
import type { Authenticator, Principal } from '../../../src/application/ports/authenticator.js';
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
  outcome,
  requestWith,
  settled,
} from './fixtures.js';

const fails = (): never => {
  throw new Error('the disk is full');
};

const faultOf = async (options: Partial<HttpInterfaceOptions>, path = '/v1/pets') =>
  (await httpInterface(options).handle(requestWith(KEY, { path }))).fault;

describe('HttpInterface', () => {
  describe('on a store that keeps no idempotency keys', () => {
    const pets = { ...openMemoryStore().pets, addOnce: undefined };

    it('refuses one with 400 and says so, stores nothing, and creates without one', async () => {
      const http = httpInterface({ pets });
      const headers: Record<string, string> = { ...KEY, 'idempotency-key': 'k' };
      const refused = await http.handle(createWith(REX, { header: (name) => headers[name] }));
      expect(outcome(refused)).to.equal('400 invalid_parameter');
      expect(refused.body).to.include('the store keeps no idempotency keys');
      expect(await pets.list({ limit: 1 })).to.deep.equal([]);
      expect(outcome(await http.handle(createWith(REX)))).to.match(/^201/);
    });

    it('has neither the header nor its errors in the document and on the docs page', async () => {
      const http = httpInterface({ pets, docs: [] });
      const read = async (path: string) => (await http.handle(requestWith({}, { path }))).body;
      expect(await read('/docs')).to.not.match(/name="Idempotency-Key"|Idempotency-Replayed/);
      const { paths } = JSON.parse(await read('/openapi.json')) as {
        paths: { '/pets': { post: { parameters?: unknown[]; responses: object } } };
      };
      const { parameters = [], responses } = paths['/pets'].post;
      expect(parameters).to.deep.equal([]);
      expect(JSON.stringify(responses)).to.not.include('Replayed');
      expect(Object.keys(responses))
        .to.include('400')
        .and.not.include('409')
        .and.not.include('422');
    });
  });

  describe('settings', () => {
    it('have their defaults where they are undefined', () => {
      const given = Object.fromEntries(
        Object.keys(DEFAULT_HTTP_SETTINGS).map((name) => [name, undefined]),
      );
      const { settings } = httpInterface({ settings: { ...given, getPet: 'off' } });
      expect(settings).to.deep.equal({ ...DEFAULT_HTTP_SETTINGS, getPet: 'off' });
    });

    it('name no experimental operation that the animal store does not have', () => {
      const settings = { experimental: ['removePet'] } as const;
      expect(() => httpInterface({ settings })).to.throw(TypeError, /has no removePet/);
    });

    it('publicUrl may be a path: the docs page then calls its own origin only', async () => {
      const http = httpInterface({ docs: [], settings: { publicUrl: '/shop/v1' } });
      const page = await http.handle(requestWith({}, { path: '/docs' }));
      expect(page.headers['Content-Security-Policy']).to.include("; connect-src 'self'; ");
    });

    it('publicUrl and stagingUrl are addresses that the docs page may call', async () => {
      const settings = {
        publicUrl: 'https://a.example/v1',
        stagingUrl: 'https://b.example/shop/v1',
      };
      const page = await httpInterface({ docs: [], settings }).handle(
        requestWith({}, { path: '/docs' }),
      );
      expect(page.headers['Content-Security-Policy']).to.include(
        "; connect-src 'self' https://a.example https://b.example; ",
      );
    });

    it('an address of IPv6 is left out of the docs page, whose policy cannot name it', async () => {
      const settings = {
        publicUrl: 'http://[::1]:8080/v1',
        stagingUrl: 'https://[2001:db8::1]/v1',
      };
      const { headers, body } = await httpInterface({ docs: [], settings }).handle(
        requestWith({}, { path: '/docs' }),
      );
      expect(headers['Content-Security-Policy']).to.include("; connect-src 'self'; ");
      expect(body).to.include('<option value="v1">This service</option></select>');
    });
  });

  describe('the log', () => {
    const log = new KeptLog();
    const { lines } = log;
    beforeEach(() => void lines.splice(0));

    it('gets every response, and the cause of a 500, of which the response reveals only the request id', async () => {
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
    });

    it('has no address of a client if the host cannot tell it, and changes no response', async () => {
      const http = httpInterface({ log, clientAddress: fails });
      expect(outcome(await http.handle(createWith(REX, { remoteAddress: '192.0.2.1' })))).to.equal(
        '201',
      );
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ status: 201, clientAddress: undefined });
    });

    it('gets the length of a body in bytes, not in characters', async () => {
      const { body } = await httpInterface({ log }).handle(createWith(REX.replace('Rex', 'Жучка')));
      expect(lines[0]).to.include({ status: 201, bytes: Buffer.byteLength(body) });
    });

    it('changes no response when it fails', async () => {
      const log = { responded: fails };
      expect(outcome(await httpInterface({ log }).handle(requestWith(KEY)))).to.equal('200');
      const http = httpInterface({ log, animalStore: failing(new Error('the disk is full')) });
      expect(outcome(await http.handle(requestWith(KEY)))).to.equal('500 internal_error');
    });
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
        const found = pets && { route: pets, parameters: {} };
        const created = await http.handle(createWith(REX, paths), found);
        expect(created.headers['Location']).to.equal(`${base}/pets/1`);
        await http.handle(createWith(REX, paths), found);
        const list = await http.handle(requestWith(KEY, { ...paths, query: 'limit=1' }), found);
        expect(list.headers['Link']).to.match(/^<([^?]+)\?/);
        expect(/^<([^?]+)/.exec(list.headers['Link'] ?? '')?.[1]).to.equal(`${base}/pets`);
        const one = Object.fromEntries(
          Object.entries(paths).map(([name, path]) => [name, `${String(path)}/1`]),
        );
        const request = requestWith(KEY, { path: '/v1/pets/1', ...one });
        const got = await http.handle(request, pet && { route: pet, parameters: { petId: '1' } });
        expect(got.headers['Link']).to.equal(
          `<${base}/pets?status=available>; rel="successor-version"`,
        );
      });
    }

    it('of / lead to the docs page below the mount, with a slash at its end or without', async () => {
      const http = httpInterface({ docs: [] });
      for (const [originalPath, location] of [
        [undefined, 'docs'],
        ['/shop/', 'docs'],
        ['/in/shop', './shop/docs'],
        ['/https:evil.example', './https:evil.example/docs'],
        ['/a">b', './a%22%3Eb/docs'],
      ]) {
        const { headers } = await http.handle(requestWith({}, { path: '/', originalPath }));
        expect(headers['Location']).to.equal(location);
      }
    });
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

  it('tells the host of faults, which are 500 and above: not refusals for being busy, and not health checks', async () => {
    const fault = new Error('the disk is full');
    const away = new UnavailableError('asking the store');
    expect(await faultOf({ animalStore: failing(fault) })).to.equal(fault);
    expect(await faultOf({ animalStore: failing(away) })).to.equal(away);
    expect(await faultOf({ animalStore: failing('a text') }))
      .to.be.instanceOf(Error)
      .with.property('cause', 'a text');
    expect(await faultOf({ admission: new AdmissionControl({ maxInFlight: 0 }) })).to.equal(
      undefined,
    );
    const readiness = new Readiness(() => Promise.reject(away));
    expect(await faultOf({ readiness }, '/readyz')).to.equal(undefined);
    expect(await faultOf({}, '/v1/pets/1')).to.equal(undefined);
  });

  it('tells the transport who is calling, once the key is known to be valid', async () => {
    const callers: Principal[] = [];
    const onAuthenticated = (principal: Principal): void => void callers.push(principal);
    await httpInterface().handle(requestWith(KEY, { onAuthenticated }));
    expect(callers.map(({ keyId }) => keyId)).to.deep.equal(['any']);
    const { request, leave } = leaving(requestWith(KEY, { onAuthenticated }));
    const authenticate: Authenticator['authenticate'] = (credential, call) => {
      leave();
      return anyKey.authenticate(credential, call);
    };
    await httpInterface({ authenticator: { authenticate } }).handle(request);
    await settled();
    expect(callers, 'of a client that left meanwhile').to.have.length(1);
  });

  it('logs of every call of a deprecated operation when it will be removed', async () => {
    const log = new KeptLog();
    const off: Partial<HttpInterfaceOptions> = { settings: { getPet: 'off' } };
    for (const [headers, method, options, expected, ...logged] of [
      [KEY, 'GET', {}, '404 pet_not_found', 'getPet', 'any', 2030],
      [KEY, 'HEAD', {}, '404 pet_not_found', 'getPet', 'any', 2030],
      [KEY, 'GET', off, '410 operation_removed', 'getPet', 'any', 2030],
      [{}, 'GET', {}, '401 missing_api_key', 'getPet', undefined, 2030],
      [KEY, 'DELETE', {}, '405 method_not_allowed', undefined, 'any', undefined],
    ] as const) {
      const request = requestWith(headers, { method, path: '/v1/pets/1' });
      expect(outcome(await httpInterface({ log, ...options }).handle(request))).to.equal(expected);
      const line = log.lines.pop();
      expect([line?.operation, line?.keyId, line?.sunset?.getUTCFullYear()]).to.deep.equal(logged);
    }
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
