import { expect } from 'chai';
import { HttpInterface, type HttpInterfaceOptions } from '../../../src/adapters/http/http-interface.js';
import type { AnsweredRequest } from '../../../src/adapters/http/http-log.js';
import type { HttpAnswer, HttpRequest } from '../../../src/adapters/http/http-message.js';
import { Readiness } from '../../../src/adapters/http/routes/readiness.js';
import { MemoryPetRepository } from '../../../src/adapters/memory/memory-pet-repository.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { SCOPES, type Authenticator } from '../../../src/application/ports/authenticator.js';
import { requestWith } from './request-with.js';

const KEY = { authorization: 'Bearer any' };

const BELLA = new TextEncoder().encode('{"name":"Bella","categoryId":1}');

const anyKey: Authenticator = {
  authenticate: async () => ({ ok: true, principal: { keyId: 'k-1', scopes: new Set(SCOPES) } }),
};

const noKey: Authenticator = { authenticate: async () => ({ ok: false, reason: 'revoked' }) };

/** The answer to a request of the route with this path. */
const answer = (http: HttpInterface, request: HttpRequest, path = request.path): Promise<HttpAnswer> =>
  http.answer(
    request,
    http.routes.find((route) => route.path === path),
    {},
  );

const codeOf = ({ body }: HttpAnswer): unknown => {
  const { code }: { code: unknown } = JSON.parse(body);
  return code;
};

const isFull = (): never => {
  throw new Error('the disk is full');
};

describe('HttpInterface', () => {
  let answered: AnsweredRequest[];
  let failed: unknown[];
  beforeEach(() => {
    answered = [];
    failed = [];
  });

  const make = (options: Partial<HttpInterfaceOptions> = {}): HttpInterface =>
    new HttpInterface({
      store: createAnimalStore({ pets: new MemoryPetRepository() }),
      authenticator: anyKey,
      readiness: new Readiness(async () => {}),
      log: {
        answered: (request) => void answered.push(request),
        failed: (requestId, error) => void failed.push([requestId, error]),
      },
      ...options,
    });

  it('tells the log of each answer, and what was behind one that nobody expected', async () => {
    const fault = new Error('hunter2');
    const store = {
      ...createAnimalStore({ pets: new MemoryPetRepository() }),
      listPets: () => Promise.reject(fault),
    };
    const { status, body, headers } = await answer(
      make({ store }),
      requestWith({ ...KEY, 'x-request-id': 'r-1' }, { query: 'limit=1' }),
    );
    expect(status).to.equal(500);
    expect(body).to.include('r-1').and.not.include('hunter2');
    expect(headers).to.include({ 'X-Request-Id': 'r-1', 'X-Content-Type-Options': 'nosniff' });
    expect(failed).to.deep.equal([['r-1', fault]]);
    const [{ milliseconds, ...request } = { milliseconds: -1 }] = answered;
    expect(milliseconds).to.be.within(0, 1000);
    expect(request).to.deep.equal({
      requestId: 'r-1',
      method: 'GET',
      path: '/v1/pets',
      status: 500,
      code: 'internal_error',
      keyId: 'k-1',
    });
  });

  it('tells the log of a refusal without a failure, and of no key where none was good', async () => {
    await answer(make({ authenticator: noKey }), requestWith(KEY));
    expect(answered).to.have.length(1);
    expect(answered[0]).to.include({ status: 401, code: 'invalid_api_key', keyId: undefined });
    expect(failed).to.deep.equal([]);
  });

  it('answers as ever when the log fails', async () => {
    const log = { answered: isFull, failed: isFull };
    expect((await answer(make({ log }), requestWith(KEY))).status).to.equal(200);
    const store = { ...createAnimalStore({ pets: new MemoryPetRepository() }), listPets: isFull };
    expect((await answer(make({ log, store }), requestWith(KEY))).status).to.equal(500);
  });

  it('makes an id for a request whose own is none that is safe to repeat', async () => {
    for (const id of ['', 'a b', 'a\nb', 'é', 'a'.repeat(129), '"', '../a']) {
      const { headers } = await answer(make(), requestWith({ ...KEY, 'x-request-id': id }));
      expect(headers['X-Request-Id']).to.match(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
    const { headers } = await answer(make(), requestWith({ ...KEY, 'x-request-id': 'a'.repeat(128) }));
    expect(headers['X-Request-Id']).to.equal('a'.repeat(128));
  });

  it('refuses what is too much at once, before it looks at the key, but never who asks for its health', async () => {
    const letGo = Promise.withResolvers<void>();
    let keys = 0;
    const authenticator: Authenticator = {
      async authenticate(credential, call) {
        keys += 1;
        await letGo.promise;
        return anyKey.authenticate(credential, call);
      },
    };
    const http = make({ authenticator, settings: { maxInFlight: 2 } });
    const inFlight = [answer(http, requestWith(KEY)), answer(http, requestWith(KEY))];
    const refused = await answer(http, requestWith(KEY));
    expect([refused.status, codeOf(refused), refused.headers['Retry-After']]).to.deep.equal([
      503,
      'service_unavailable',
      '1',
    ]);
    expect(keys).to.equal(2);
    for (const path of ['/livez', '/readyz']) {
      expect((await answer(http, requestWith({}, { path }))).status).to.equal(200);
    }
    letGo.resolve();
    expect((await Promise.all(inFlight)).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect((await answer(http, requestWith(KEY))).status).to.equal(200);
  });

  it('gives the place of a request that failed to another', async () => {
    const http = make({ settings: { maxInFlight: 1 } });
    for (let times = 0; times < 3; times += 1) {
      expect((await answer(http, requestWith({}))).status).to.equal(401);
    }
    expect((await answer(http, requestWith(KEY))).status).to.equal(200);
  });

  it('answers 503 when the time is over, whatever the store does', async () => {
    const store = {
      ...createAnimalStore({ pets: new MemoryPetRepository() }),
      listPets: (): Promise<never> => new Promise(() => {}),
    };
    const alive = setInterval(() => {}, 1000);
    const late = await answer(make({ store, settings: { requestDeadline: 20 } }), requestWith(KEY));
    clearInterval(alive);
    expect([late.status, codeOf(late)]).to.deep.equal([503, 'service_unavailable']);
  });

  it('tells the store when the client goes away', async () => {
    let leave: (() => void) | undefined;
    const reasons: unknown[] = [];
    const store = {
      ...createAnimalStore({ pets: new MemoryPetRepository() }),
      listPets: (_: unknown, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<never> =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          });
          leave?.();
        }),
    };
    const request = requestWith(KEY, { onGone: (listener) => void (leave = listener) });
    const { status } = await answer(make({ store }), request);
    expect(status).to.equal(408);
    expect(reasons).to.have.length(1);
    expect(failed).to.deep.equal([]);
  });

  it('keeps what it is below its base path to itself: without a key nobody learns what is served', async () => {
    const http = make({ settings: { basePath: '/animals/v1' } });
    const status = async (path: string, headers = {}): Promise<number> =>
      (await answer(http, requestWith(headers, { path }))).status;
    expect(await status('/animals/v1/nothing')).to.equal(401);
    expect(await status('/animals/v1/')).to.equal(401);
    expect(await status('/animals/v1')).to.equal(401);
    expect(await status('/animals/v1/nothing', KEY)).to.equal(404);
    for (const path of ['/animals/v11', '/animals', '/v1/pets', '/', '*'])
      expect(await status(path)).to.equal(404);
    expect(await status('/animals/v1/pets', KEY)).to.equal(200);
  });

  it('takes a path for its public address: Location begins with it, the docs page asks its own origin', async () => {
    const docs = [{ name: 'page.html', type: 'text/html; charset=utf-8', text: '<!doctype html>' }];
    const http = make({ docs, settings: { publicUrl: '/shop/v1' } });
    const created = await answer(
      http,
      requestWith(
        { ...KEY, 'content-type': 'application/json' },
        { method: 'POST', announcesBody: true, hasBody: async () => true, readBody: async () => BELLA },
      ),
    );
    expect(created.headers).to.include({ Location: '/shop/v1/pets/1' });
    const page = await answer(http, requestWith({}, { path: '/docs' }));
    expect(page.headers['Content-Security-Policy']).to.include("; connect-src 'self'; ");
  });
});
