import { Readable } from 'node:stream';
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

type Handle = (context: Context) => unknown;

/** An application with one route of its own, `/v1/orders/:id`, that does this. */
async function serving(
  handle: Handle,
  options: Partial<HttpInterfaceOptions> = {},
  method = 'GET',
): Promise<string> {
  const router = new Router();
  const middleware = async (context: Context): Promise<void> => void (await handle(context));
  router.register('/v1/orders/:id', [method], middleware, { name: 'anOrder' });
  const app = new Koa();
  app.on('error', (error) => emitted.push(error));
  app.use(behindApiKeys(httpInterface({ log, ...options }), router));
  app.use(leave('next'));
  return `${await serve(app.callback())}/v1/orders/7`;
}

/** Leaves this body in the context. */
const leave =
  (body: unknown): Handle =>
  (context) =>
    Object.assign(context, { body });

const get = (url: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { headers: KEY, ...init });

/** The status and the code of a response to GET, or to another method. */
const outcomeOf = async (url: string, method = 'GET'): Promise<string> =>
  sentOutcome(await get(url, { method }));

const textOf = async (url: string): Promise<string> => (await get(url)).text();

/** Accepts every key, with these scopes. */
const keyed = (...scopes: string[]): Authenticator => ({
  authenticate: async (keyId) => ({ ok: true, principal: { keyId, scopes: new Set(scopes) } }),
});

describe('behindApiKeys', () => {
  beforeEach(() => void log.lines.splice(0));
  afterEach(closeServers);

  for (const [what, body, expected] of [
    ['JSON with exact integers', { id: 2n ** 63n - 1n }, '{"id":9223372036854775807}'],
    ['JSON of an array', ['a'], '["a"]'],
    ['text', 'plain', 'plain'],
  ] as const) {
    it(`responds with what the route left: ${what}`, async () => {
      expect(await textOf(await serving(leave(body)))).to.equal(expected);
    });
  }

  for (const [what, body] of [
    ['a Buffer', Buffer.from('abc')],
    ['a typed array', new Uint8Array(3)],
    ['a stream', Readable.from(['abc'])],
    ['a web stream', new Blob(['abc']).stream()],
    ['a Blob', new Blob(['abc'])],
    ['a Response', new Response('abc')],
  ] as const) {
    it(`takes ${what} in place of text or JSON for a fault of the route`, async () => {
      const outcome = await outcomeOf(await serving(leave(body)));

      expect(outcome).to.equal('500 internal_error');
      expect(String(log.failures.at(-1))).to.include('must be text or JSON');
    });
  }

  it('responds with 204 where the route left null', async () => {
    expect(await outcomeOf(await serving(leave(null)))).to.equal('204');
  });

  it('responds with the status and headers that the route left', async () => {
    const url = await serving((context) => {
      context.set({ 'Cache-Control': 'public', 'X-Own': 'yes' });
      Object.assign(context, { status: 202, body: '' });
    });

    const { status, headers } = await get(url);

    expect(status).to.equal(202);
    expect([headers.get('cache-control'), headers.get('x-own')]).to.deep.equal(['public', 'yes']);
  });

  it('gives the route parameters, the principal and a signal', async () => {
    const seen: unknown[] = [];
    const url = await serving(({ params, state: { principal, signal } }) => {
      seen.push(params.id, principal.keyId, signal.aborted);
    });

    await get(url);

    expect(seen).to.deep.equal(['7', 'any', false]);
  });

  it('reports the route by its name, and 404 if it left nothing', async () => {
    const outcome = await outcomeOf(await serving(() => {}));

    expect(outcome).to.equal('404 route_not_found');
    expect(log.lines).to.have.length(1);
    expect(log.lines[0]).to.include({
      operation: 'anOrder',
      keyId: 'any',
      code: 'route_not_found',
    });
  });

  for (const [what, refuse, expected] of [
    [
      'an error with a code',
      (context) => context.throw(404, 'No order.', { code: 'order_not_found' }),
      '404 order_not_found',
    ],
    ['an error without one', (context) => context.throw(409, 'Sold.'), '409 conflict'],
    [
      'an error of the animal store',
      () => Promise.reject(new PetNotFoundError('7')),
      '404 pet_not_found',
    ],
    [
      'an unreachable store',
      () => Promise.reject(new UnavailableError('reading')),
      '503 service_unavailable',
    ],
  ] as ReadonlyArray<[string, Handle, string]>) {
    it(`gives ${what} the Error shape, and its code to the log`, async () => {
      const outcome = await outcomeOf(await serving(refuse));

      expect(outcome).to.equal(expected);
      expect(log.lines.map(({ status, code }) => `${status} ${code}`)).to.deep.equal([expected]);
    });
  }

  it('sends the message and the headers of what the route throws for clients', async () => {
    const headers = { 'Retry-After': '7' };
    const url = await serving((context) => context.throw(429, 'Slow.', { headers }));

    const limited = await get(url);

    expect(limited.headers.get('retry-after')).to.equal('7');
    expect(await limited.json()).to.deep.equal({
      code: 'too_many_requests',
      message: 'Slow.',
      status: 429,
    });
  });

  for (const [what, fault] of [
    ['a fault', new TypeError('a secret')],
    ['an error that only has a status', Object.assign(new Error('a secret'), { status: 404 })],
  ] as const) {
    it(`tells the log and the application, but not the client, of ${what}`, async () => {
      const response = await get(await serving(() => Promise.reject(fault)));

      expect(response.status).to.equal(500);
      expect(await response.text()).to.not.include('secret');
      expect([log.failures.at(-1), emitted.at(-1)]).to.deep.equal([fault, fault]);
    });
  }

  it('takes a thrown status above 499 for a fault', async () => {
    const url = await serving((context) => context.throw(503, 'a secret'));
    expect(await outcomeOf(url)).to.equal('500 internal_error');
  });

  it('ends a route at the deadline, and aborts its signal for a reason that does not blame the store alone', async () => {
    let signal: AbortSignal | undefined;
    const stuck: Handle = ({ state }) => {
      signal = state['signal'];
      return new Promise(() => {});
    };
    const url = await serving(stuck, { settings: { requestDeadline: 20 } });

    const outcome = await outcomeOf(url);

    expect(outcome).to.equal('503 service_unavailable');
    expect(signal?.aborted, 'aborted').to.equal(true);
    expect(String(signal?.reason)).to.match(/: There was no response .*store.* or a route/);
  });

  it('counts for the rate limit of the key', async () => {
    const rateLimiter: HttpInterfaceOptions['rateLimiter'] = {
      limit: { requests: 1, seconds: 60 },
      take: async () => ({ allowed: false, remaining: 0, resetsIn: 1000 }),
    };
    const url = await serving(leave('text'), { rateLimiter });
    expect(await outcomeOf(url)).to.equal('429 rate_limited');
  });

  for (const [method, scope] of [
    ['GET', 'pets:read'],
    ['POST', 'pets:write'],
    ['PATCH', 'pets:write'],
    ['DELETE', 'pets:delete'],
  ] as const) {
    it(`asks for the scope ${scope} for ${method}`, async () => {
      const others = ['pets:read', 'pets:write', 'pets:delete'].filter((each) => each !== scope);
      const without = await serving(leave('text'), { authenticator: keyed(...others) }, method);
      const within = await serving(leave('text'), { authenticator: keyed(scope) }, method);

      expect(await outcomeOf(without, method)).to.equal('403 insufficient_scope');
      expect(await outcomeOf(within, method)).to.equal('200');
    });
  }

  it('lets pages of other origins ask for the route', async () => {
    const settings = { corsOrigins: ['https://shop.example'] };
    const url = await serving(leave('text'), { settings }, 'PUT');

    const { status, headers } = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'PUT' },
    });

    expect(status).to.equal(204);
    expect(headers.get('access-control-allow-methods')).to.equal('PUT, OPTIONS');
  });

  it('names OPTIONS once for a router that has it too, and does not call its route', async () => {
    const called: string[] = [];
    const router = new Router().all('/v1/all', ({ method }) => void called.push(method));
    const url = `${await serve(createKoaApp(httpInterface({ log }), router).callback())}/v1/all`;

    const { status, headers } = await fetch(url, { method: 'OPTIONS' });

    expect(status).to.equal(204);
    expect(headers.get('allow')?.match(/OPTIONS/g), 'OPTIONS in Allow').to.have.length(1);
    expect(called, 'calls of the route').to.deep.equal([]);
  });

  for (const path of ['/v1/orders', '/v1/pets', '/']) {
    it(`leaves ${path} to the next middleware`, async () => {
      const url = await serving(leave('own'));
      expect(await textOf(String(new URL(path, url)))).to.equal('next');
    });
  }

  it('serves several routers beside the operations in a whole application', async () => {
    const paths = ['/v1/orders', '/v1/shelves'];
    const routers = paths.map((path) => new Router().get(path, leave(path)));
    const url = await serve(createKoaApp(httpInterface({ log }), ...routers).callback());

    for (const path of paths) {
      expect(await textOf(url + path)).to.equal(path);
      expect(await outcomeOf(url + path, 'PUT')).to.equal('405 method_not_allowed');
    }
    expect(await textOf(`${url}/v1/pets`)).to.equal('[]');
    expect(await outcomeOf(`${url}/v1/nothing`)).to.equal('404 route_not_found');
  });
});
