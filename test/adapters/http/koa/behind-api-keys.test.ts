import { Router } from '@koa/router';
import { expect } from 'chai';
import Koa, { type Context } from 'koa';
import type { HttpInterfaceOptions } from '../../../../src/adapters/http/index.js';
import { behindApiKeys, createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import type { Authenticator } from '../../../../src/application/ports/authenticator.js';
import { PetNotFoundError, UnavailableError } from '../../../../src/domain/errors.js';
import { KEY, KeptLog, httpInterface, sentOutcome } from '../fixtures.js';
import { closeServers, serve } from '../node/listening-server.js';

const log = new KeptLog();
const emitted: unknown[] = [];

/** An application with one route of its own, `/v1/orders/:id`, that does this. */
function serving(
  handle: (context: Context) => unknown,
  options: Partial<HttpInterfaceOptions> = {},
  method = 'GET',
): Promise<string> {
  const router = new Router();
  router.register('/v1/orders/:id', [method], async (context) => void (await handle(context)), {
    name: 'anOrder',
  });
  const app = new Koa();
  app.on('error', (error) => emitted.push(error));
  app.use(behindApiKeys(httpInterface({ log, ...options }), router));
  app.use((context) => void (context.body = 'next'));
  return serve(app.callback()).then((url) => `${url}/v1/orders/7`);
}

const get = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { headers: KEY, ...init });

const leaveText = (context: Context): void => void (context.body = 'text');

/** Accepts every key, with these scopes. */
const keyed = (...scopes: string[]): Authenticator => ({
  authenticate: async (keyId) => ({ ok: true, principal: { keyId, scopes: new Set(scopes) } }),
});

describe('behindApiKeys', () => {
  beforeEach(() => void log.lines.splice(0));
  afterEach(closeServers);

  it('responds with what the route left: JSON with exact integers, text, nothing, its headers', async () => {
    for (const [handle, expected] of [
      [
        (context: Context) => void (context.body = { id: 2n ** 63n - 1n }),
        '{"id":9223372036854775807}',
      ],
      [(context: Context) => void (context.body = ['a']), '["a"]'],
      [(context: Context) => void (context.body = 'plain'), 'plain'],
    ] as const) {
      expect(await (await get(await serving(handle))).text()).to.equal(expected);
    }
    const empty = await get(await serving((context) => void (context.body = null)));
    expect(empty.status).to.equal(204);
    const own = await get(
      await serving((context) => {
        context.set({ 'Cache-Control': 'public', 'X-Own': 'yes' });
        context.status = 202;
        context.body = '';
      }),
    );
    expect([own.status, own.headers.get('cache-control'), own.headers.get('x-own')]).to.deep.equal([
      202,
      'public',
      'yes',
    ]);
  });

  it('gives the route parameters, the principal and a signal, and reports it by its name', async () => {
    const seen: unknown[] = [];
    const url = await serving(({ params, state }) => {
      const { principal, signal } = state;
      seen.push(params.id, principal.keyId, signal.aborted);
    });
    expect(await sentOutcome(get(url))).to.equal('404 route_not_found'); // it left nothing
    expect(seen).to.deep.equal(['7', 'any', false]);
    expect(log.lines.map(({ operation, keyId, code }) => [operation, keyId, code])).to.deep.equal([
      ['anOrder', 'any', 'route_not_found'],
    ]);
  });

  it('gives what the route throws for clients the Error shape, and its code to the log', async () => {
    for (const [refuse, expected] of [
      [
        (context: Context) => context.throw(404, 'No order.', { code: 'order_not_found' }),
        '404 order_not_found',
      ],
      [(context: Context) => context.throw(409, 'Sold.'), '409 conflict'],
      [() => Promise.reject(new PetNotFoundError('7')), '404 pet_not_found'],
      [() => Promise.reject(new UnavailableError('reading')), '503 service_unavailable'],
    ] as const) {
      expect(await sentOutcome(get(await serving(refuse)))).to.equal(expected);
    }
    expect(log.lines.map(({ status, code }) => `${status} ${code}`)).to.deep.equal([
      '404 order_not_found',
      '409 conflict',
      '404 pet_not_found',
      '503 service_unavailable',
    ]);
    const headers = { 'Retry-After': '7' };
    const limited = await get(await serving((context) => context.throw(429, 'Slow.', { headers })));
    expect(limited.headers.get('retry-after')).to.equal('7');
    expect(await limited.json()).to.deep.equal({
      code: 'too_many_requests',
      message: 'Slow.',
      status: 429,
    });
  });

  it('tells the log and the application, but not the client, of a fault, and of a status above 499', async () => {
    for (const fault of [
      new TypeError('a secret'),
      Object.assign(new Error('a secret'), { status: 404 }),
    ]) {
      const response = await get(await serving(() => Promise.reject(fault)));
      expect(await response.text()).to.not.include('secret');
      expect(response.status).to.equal(500);
      expect([log.failures.at(-1), emitted.at(-1)]).to.deep.equal([fault, fault]);
    }
    const url = await serving((context) => context.throw(503, 'a secret'));
    expect(await sentOutcome(get(url))).to.equal('500 internal_error');
  });

  it('ends a route at the deadline, and aborts its signal', async () => {
    let signal: AbortSignal | undefined;
    const url = await serving(
      ({ state }) => {
        ({ signal } = state);
        return new Promise(() => {});
      },
      { settings: { requestDeadline: 20 } },
    );
    expect(await sentOutcome(get(url))).to.equal('503 service_unavailable');
    expect(signal?.aborted).to.equal(true);
  });

  it('counts for the rate limit of the key', async () => {
    const rateLimiter: HttpInterfaceOptions['rateLimiter'] = {
      limit: { requests: 1, seconds: 60 },
      take: async () => ({ allowed: false, remaining: 0, resetsIn: 1000 }),
    };
    const url = await serving(leaveText, { rateLimiter });
    expect(await sentOutcome(get(url))).to.equal('429 rate_limited');
  });

  it('asks for the scope to read, to write or to delete, by the method', async () => {
    for (const [method, scope] of [
      ['GET', 'pets:read'],
      ['POST', 'pets:write'],
      ['PATCH', 'pets:write'],
      ['DELETE', 'pets:delete'],
    ] as const) {
      const others = ['pets:read', 'pets:write', 'pets:delete'].filter((each) => each !== scope);
      const without = await serving(leaveText, { authenticator: keyed(...others) }, method);
      expect(await sentOutcome(get(without, { method })), method).to.equal(
        '403 insufficient_scope',
      );
      const held = await serving(leaveText, { authenticator: keyed(scope) }, method);
      expect((await get(held, { method })).status, method).to.equal(200);
    }
  });

  it('lets pages of other origins ask for the route', async () => {
    const settings = { corsOrigins: ['https://shop.example'] };
    const url = await serving(leaveText, { settings }, 'PUT');
    const { status, headers } = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'PUT' },
    });
    expect([status, headers.get('access-control-allow-methods')]).to.deep.equal([
      204,
      'PUT, OPTIONS',
    ]);
  });

  it('leaves other paths to the next middleware', async () => {
    const url = await serving((context) => void (context.body = 'own'));
    for (const path of ['/v1/orders', '/v1/pets', '/']) {
      expect(await (await fetch(new URL(path, url))).text(), path).to.equal('next');
    }
  });

  it('serves several routers beside the operations in a whole application', async () => {
    const routers = ['/v1/orders', '/v1/shelves'].map((path) =>
      new Router().get(path, (context) => void (context.body = path)),
    );
    const url = await serve(createKoaApp(httpInterface({ log }), ...routers).callback());
    for (const path of ['/v1/orders', '/v1/shelves']) {
      expect(await (await get(url + path)).text()).to.equal(path);
      expect(await sentOutcome(get(url + path, { method: 'PUT' }))).to.equal(
        '405 method_not_allowed',
      );
    }
    expect(await (await get(`${url}/v1/pets`)).text()).to.equal('[]');
    expect(await sentOutcome(get(`${url}/v1/nothing`))).to.equal('404 route_not_found');
  });
});
