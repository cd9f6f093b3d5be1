import { expect } from 'chai';
import { UNBOUNDED } from '../../../src/adapters/http/admission.js';
import { errorResponse } from '../../../src/adapters/http/error-responses.js';
import { DEFAULT_HTTP_SETTINGS } from '../../../src/adapters/http/http-settings.js';
import {
  BusyError,
  Readiness,
  type GivenHttpSettings,
  type HttpInterfaceOptions,
} from '../../../src/adapters/http/index.js';
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

const failure = new Error('hunter2');

const fail = (): never => {
  throw failure;
};

const refuse = (): never => {
  throw new BusyError('too many requests');
};

async function failureOf(options: Partial<HttpInterfaceOptions>, path = '/v1/pets') {
  return (await httpInterface(options).handle(requestWith(KEY, { path }))).failure;
}

describe('The settings of HttpInterface', () => {
  it('have their defaults where they are undefined', () => {
    const names = Object.keys(DEFAULT_HTTP_SETTINGS);
    const unset = Object.fromEntries(names.map((name) => [name, undefined]));

    const { settings } = httpInterface({ settings: { ...unset, bodyLimit: 100 } });

    expect(settings).to.deep.equal({ ...DEFAULT_HTTP_SETTINGS, bodyLimit: 100 });
  });

  for (const [name, values] of Object.entries({
    basePath: ['', '/v1/', 'v1', '/a/../v1', '/v2', '/a b/v1'],
    publicUrl: [
      '',
      '/v1',
      'https://a.example/v1/',
      'https://a.example',
      'ftp://a.example/v1',
      'https://a.example/V1',
    ],
    stagingUrl: ['https://me@a.example/v1', 'https://a.example/?/v1', 'https://a b/v1'],
    corsOrigins: [
      ['https://A.example'],
      ['https://a.example/'],
      ['a.example'],
      ['*', 'x://y'],
      ['undefined//undefined'],
    ],
  }))
    for (const value of values)
      it(`refuse ${name} ${JSON.stringify(value)}`, () => {
        const make = () => httpInterface({ settings: { [name]: value } });
        expect(make).to.throw(
          TypeError,
          new RegExp(`${name} must be .*such as|${name} must .*/v1`),
        );
      });

  for (const [name, ...values] of [
    ['bodyLimit', 0, 1.5, NaN, Infinity],
    ['requestDeadline', 0, NaN, 2 ** 31, Infinity],
  ] as const)
    for (const value of values)
      it(`refuse ${name} ${value}`, () => {
        const make = () => httpInterface({ settings: { [name]: value } });
        expect(make).to.throw(TypeError, `${name} must be`);
      });

  it('name everything that is wrong with them', () => {
    const settings = { basePath: '/', publicUrl: '', corsOrigins: ['x'] };
    expect(() => httpInterface({ settings })).to.throw(/basePath .*publicUrl .*corsOrigins /);
  });

  for (const settings of [
    { basePath: '/animals.v2/x-y/~z/v1' },
    { publicUrl: 'http://[::1]:8080/shop/v1', stagingUrl: 'https://a_b/v1' },
    { corsOrigins: ['*'] },
    { corsOrigins: ['http://localhost:5173', 'chrome-extension://abc', 'file://'] },
  ] as GivenHttpSettings[])
    it(`may be ${JSON.stringify(settings)}`, () => {
      expect(httpInterface({ settings }).settings).to.include(settings);
    });

  it('send a public URL in ASCII', async () => {
    const settings = { publicUrl: 'https://例え.jp/ä/v1' };
    const { headers } = await httpInterface({ settings }).handle(createWith(REX));
    expect(headers).to.include({ Location: 'https://xn--r8jz45g.jp/%C3%A4/v1/pets/1' });
  });

  it('name no experimental operation that the animal store does not have', () => {
    const settings = { experimental: ['removePet'] } as const;
    expect(() => httpInterface({ settings })).to.throw(TypeError, /has no removePet/);
  });
});

describe('The log of HttpInterface', () => {
  const log = new KeptLog();
  const { lines } = log;
  beforeEach(() => void lines.splice(0));

  it('gets the cause of a 500, of which the response reveals only the request id', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const sent = {
      ...KEY,
      'x-request-id': 'r-1',
      'x-forwarded-for': 'f'.repeat(300),
      'user-agent': 'till/2',
      traceparent,
    };
    const request = requestWith(sent, { query: 'limit=1', remoteAddress: '192.0.2.1' });

    const { body } = await httpInterface({ animalStore: failing(failure), log }).handle(request);

    expect(JSON.parse(String(body))).to.deep.equal({
      code: 'internal_error',
      message: 'Internal error. Report request id r-1.',
      status: 500,
    });
    const { milliseconds, ...logged } = { milliseconds: -1, ...lines[0] };
    expect(milliseconds).to.be.within(0, 10_000);
    expect(logged).to.deep.equal({
      requestId: 'r-1',
      method: 'GET',
      path: '/v1/pets',
      operation: 'listPets',
      isHealthCheck: undefined,
      clientAddress: '192.0.2.1',
      forwardedFor: 'f'.repeat(256),
      userAgent: 'till/2',
      traceparent,
      keyId: 'any',
      keyFault: undefined,
      status: 500,
      code: 'internal_error',
      error: failure,
      bytes: body.length,
    });
  });

  for (const [reason, refused, keyId] of [
    ['unknown', {}, undefined],
    ['expired', { keyId: 'k1', at: new Date(0) }, 'k1'],
    ['revoked', { keyId: 'k2' }, 'k2'],
  ] as const)
    it(`says why a key is refused: ${reason}`, async () => {
      const authenticate = async () => ({ ok: false, reason, ...refused }) as never;

      await httpInterface({ authenticator: { authenticate }, log }).handle(requestWith(KEY));

      expect(lines[0]).to.include({ status: 401, keyFault: reason, keyId, error: undefined });
    });

  it('gets the length of a body in bytes, not in characters', async () => {
    const { body } = await httpInterface({ log }).handle(createWith(REX.replace('Rex', 'Жучка')));
    expect(lines[0]).to.include({ status: 201, bytes: Buffer.byteLength(body) });
  });

  it('gets no operation of a method that a path does not support', async () => {
    await httpInterface({ log }).handle(requestWith(KEY, { method: 'PUT', path: '/v1/pets/1' }));
    expect(lines[0]).to.include({ status: 405, operation: undefined, keyId: 'any' });
  });

  it('costs no client its response when it fails', async () => {
    const response = await httpInterface({ log: { responded: fail } }).handle(requestWith(KEY));
    expect(outcome(response)).to.equal('200');
  });
});

describe('HttpInterface tells the host', () => {
  const unreachable = new UnavailableError('asking the store');

  it('of failures, which are 500 and above', async () => {
    expect(await failureOf({ animalStore: failing(failure) })).to.equal(failure);
    expect(await failureOf({ animalStore: failing(unreachable) })).to.equal(unreachable);
    expect(await failureOf({ animalStore: failing('a text') })).to.have.property('cause', 'a text');
  });

  for (const [what, options, path] of [
    ['refusals for being busy', { admission: { admit: refuse } }],
    ['health checks', { readiness: new Readiness(() => Promise.reject(unreachable)) }, '/readyz'],
    ['an unknown animal', {}, '/v1/pets/1'],
  ] as const)
    it(`nothing of ${what}`, async () => {
      expect(await failureOf(options, path)).to.equal(undefined);
    });
});

describe('HttpInterface tells the transport who is calling', () => {
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

describe('HttpInterface', () => {
  it('refuses a principal without an id', async () => {
    const authenticator = { authenticate: async () => ({ ok: true }) } as unknown as Authenticator;
    const { status } = await httpInterface({ authenticator }).handle(requestWith(KEY));
    expect(status).to.equal(403);
  });

  it('takes a place, then the turn of the caller, and gives them back at the end', async () => {
    const told: unknown[] = [];
    const permit = {
      ...UNBOUNDED,
      admitCaller: async (keyId: string) => void told.push(keyId),
      whileReading<T>(work: () => Promise<T>) {
        told.push('reading');
        return work();
      },
      end: () => void told.push('end'),
    };
    const http = httpInterface({ admission: { admit: () => permit } });

    await http.handle(createWith(REX));
    await http.handle(requestWith({}, { path: '/nowhere' }));
    await http.handle(requestWith({}, { path: '/livez' }));

    expect(told).to.deep.equal(['any', 'reading', 'end', '', 'end']);
  });
});

describe('errorResponse', () => {
  it('recognises an error of another copy of the package by its code', () => {
    const error = Object.assign(new Error('Not found.'), { code: 'pet_not_found' });
    expect(errorResponse(error, 'r-1')).to.include({ status: 404, code: 'pet_not_found' });
  });

  for (const [what, thrown] of [
    ['an error of the system', Object.assign(new Error('hunter2'), { code: 'EACCES' })],
    ['undefined', undefined],
  ] as const)
    it(`reveals only the request id of ${what} that nobody expected`, () => {
      const { body } = errorResponse(thrown, 'r-1');
      expect(body).to.include('internal_error').and.include('r-1').and.not.include('hunter2');
    });
});
