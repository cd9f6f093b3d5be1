import { Router } from '@koa/router';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { HttpInterfaceOptions } from '../../../../src/adapters/http/index.js';
import { animalStoreRouter, createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import type { Principal } from '../../../../src/application/ports/authenticator.js';
import { KEY, KeptLog, REX, failing, httpInterface, sentOutcome } from '../fixtures.js';
import { closeServers, serve } from '../node/listening-server.js';

const log = new KeptLog();

/** The router in a stranger's application, between its own middleware. */
function mounted(
  before: readonly Middleware[],
  options: Partial<HttpInterfaceOptions> = {},
  mountMore: (app: Koa) => unknown = () => {},
): Promise<string> {
  const app = new Koa();
  app.silent = true;
  for (const middleware of before) app.use(middleware);
  app.use(animalStoreRouter(httpInterface({ log, ...options })).routes());
  mountMore(app);
  return serve(app.callback());
}

const create = (
  body: NonNullable<RequestInit['body']> | null = REX,
  headers: Record<string, string> = {},
): RequestInit => ({
  method: 'POST',
  headers: { ...KEY, 'content-type': 'application/json', ...headers },
  body,
});

/** Middleware that changes a response on its way out. */
const outer: Middleware = async (context, next) => {
  await next();
  context.set('X-Outer', `${context.status} ${context.response.length}`);
};

/** Middleware that changes the status of a response on its way out. */
const as502: Middleware = async (context, next) => {
  await next();
  Object.assign(context, { status: 502, body: String(context.body) });
};

describe('animalStoreRouter', () => {
  beforeEach(() => void log.lines.splice(0));
  afterEach(closeServers);

  it('is a router with the operations by method, path and name', () => {
    const router = animalStoreRouter(httpInterface());
    expect(router.stack.map(({ name, path, methods }) => [name, path, methods])).to.deep.equal([
      ['listPets', '/v1/pets', ['HEAD', 'GET']],
      ['createPet', '/v1/pets', ['POST']],
      ['getPet', '/v1/pets/:petId', ['HEAD', 'GET']],
    ]);
    expect(router.url('getPet', { petId: 7 })).to.equal('/v1/pets/7');
  });

  it('tells the middleware around it route, operation and principal', async () => {
    const seen: unknown[] = [];
    const url = await mounted([
      async (context, next) => {
        await next();
        const { operation, principal } = context.state;
        seen.push([
          context['_matchedRoute'],
          context['_matchedRouteName'],
          operation,
          principal?.keyId,
        ]);
      },
    ]);
    await fetch(`${url}/v1/pets`, { headers: KEY });
    await fetch(`${url}/v1/pets`, create());
    await fetch(`${url}/v1/pets/1`, { headers: KEY, method: 'HEAD' });
    await fetch(`${url}/v1/pets/1`);
    await fetch(`${url}/elsewhere`);
    expect(seen).to.deep.equal([
      ['/v1/pets', 'listPets', 'listPets', 'any'],
      ['/v1/pets', 'createPet', 'createPet', 'any'],
      ['/v1/pets/:petId', 'getPet', 'getPet', 'any'],
      ['/v1/pets/:petId', 'getPet', 'getPet', undefined],
      [undefined, undefined, undefined, undefined],
    ]);
  });

  it('answers 500 where the application fails, and prints why, but not that a connection broke', async () => {
    const fault = new Error('cannot be written');
    const http = httpInterface();
    http.handle = () => Promise.reject(fault);
    const printed: unknown[] = [];
    const app = Object.assign(createKoaApp(http), {
      onerror: (error: Error) => printed.push(error),
    });
    const url = await serve(app.callback());
    for (const path of ['/v1/pets', '/nowhere'])
      expect((await fetch(url + path)).status).to.equal(500);
    app.emit('error', Object.assign(new Error('write EPIPE'), { syscall: 'write' }));
    expect(printed).to.deep.equal([fault, fault]);
  });

  it('leaves middleware its say when the whole application is mounted in another', async () => {
    const [first, second] = createKoaApp(httpInterface()).middleware;
    const host = new Koa().use(outer);
    host.use((context, next) => first?.(context, async () => second?.(context, next)));
    const url = await serve(host.callback());
    for (const [path, status] of [
      ['/v1/pets', 200],
      ['/nowhere', 404],
    ] as const) {
      const response = await fetch(url + path, { headers: KEY });
      const { length } = await response.text();
      expect([response.status, response.headers.get('x-outer')]).to.deep.equal([
        status,
        `${status} ${length}`,
      ]);
    }
  });

  it('emits the faults of a whole application that is mounted in another', async () => {
    const fault = new Error('the disk is full');
    const [operations] = createKoaApp(httpInterface({ animalStore: failing(fault) })).middleware;
    const emitted: unknown[] = [];
    const host = new Koa().on('error', (error) => emitted.push(error));
    host.use((context, next) => operations?.(context, next));
    const url = await serve(host.callback());

    await fetch(`${url}/v1/pets`, { headers: KEY });

    expect(emitted, 'what the host was told').to.deep.equal([fault]);
  });

  describe('emits a fault once, as Koa does,', () => {
    const fault = new Error('the disk is full');
    for (const [title, before, status, body, told] of [
      [
        'and responds to it, through the middleware around it',
        outer,
        500,
        /"internal_error"/,
        [fault],
      ],
      ['and lets middleware change the response', as502, 502, /"internal_error"/, [fault]],
      [
        'and leaves a response that middleware has begun',
        async ({ res }, next) => {
          res.writeHead(202).write('of ');
          await next().finally(() => setImmediate(() => res.end('the host')));
        },
        202,
        /^of the host$/,
        [fault],
      ],
      [
        'and leaves errors of others to Koa',
        (context) => context.throw(503, 'of the host'),
        503,
        /^Service Unavailable$/,
        ['ServiceUnavailableError: of the host'],
      ],
    ] as ReadonlyArray<[string, Middleware, number, RegExp, unknown[]]>) {
      it(title, async () => {
        const app = new Koa();
        const errors: unknown[] = [];
        app.on('error', (error) => errors.push(error));
        app.use(async (context, next) => {
          context.set('X-Before', 'kept');
          await next();
        });
        app
          .use(before)
          .use(animalStoreRouter(httpInterface({ animalStore: failing(fault) })).routes());
        const url = await serve(app.callback());
        const response = await fetch(`${url}/v1/pets`, { headers: KEY });
        expect([response.status, errors.map(String)]).to.deep.equal([status, told.map(String)]);
        expect(await response.text()).to.match(body);
        expect(response.headers.get('x-before')).to.equal(status === 503 ? null : 'kept');
      });
    }
  });

  it('answers preflights of the origins in corsOrigins, and leaves OPTIONS to others without any', async () => {
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    };
    const url = await mounted([], { settings: { corsOrigins: ['https://shop.example'] } });
    for (const path of ['/v1/pets', '/v1/pets/1']) {
      const { status, headers } = await fetch(url + path, preflight);
      expect([status, headers.get('access-control-allow-origin')]).to.deep.equal([
        204,
        'https://shop.example',
      ]);
    }
    expect((await fetch(`${await mounted([])}/v1/pets`, preflight)).status).to.equal(404);
  });

  it('gives Location and Link the prefixes of the routers and hosts that it is mounted in', async () => {
    const shop = new Router();
    shop.use('/:tenant/shop', animalStoreRouter(httpInterface()).routes());
    const app = new Koa();
    // As koa-mount does.
    app.use((context, next) => {
      context.path = context.path.replace(/^\/mounted/, '');
      return next();
    });
    app.use(shop.routes());
    const url = await serve(app.callback());
    for (let count = 0; count < 2; count += 1) {
      const created = await fetch(`${url}/mounted/a%2Fb/shop/v1/pets`, create());
      const location = created.headers.get('location') ?? '';
      expect(location).to.equal(`/mounted/a%2Fb/shop/v1/pets/${count + 1}`);
      expect((await fetch(url + location, { headers: KEY })).status).to.equal(200);
    }
    const list = await fetch(`${url}/mounted/a%2Fb/shop/v1/pets?limit=1`, { headers: KEY });
    expect(list.headers.get('link')).to.match(/^<\/mounted\/a%2Fb\/shop\/v1\/pets\?limit=1&/);
    const koa = createKoaApp(httpInterface()).callback();
    const express = await serve((request, response) => {
      const originalUrl = request.url ?? '';
      const url = originalUrl.replace('/shop', '');
      return koa(Object.assign(request, { originalUrl, url, rawBody: REX }), response);
    });
    const { headers } = await fetch(`${express}/shop/v1/pets?`, create('unread'));
    expect(headers.get('location'), 'in a host that sets originalUrl and rawBody').to.equal(
      '/shop/v1/pets/1',
    );
  });

  it('leaves unknown paths and methods to the next middleware, under another prefix too', async () => {
    const shop = new Router();
    shop.get('/shop/cart', (context) => void (context.body = 'cart'));
    shop.put('/shop/v1/pets', (context) => void (context.body = 'put'));
    const url = await mounted([], { settings: { basePath: '/shop/v1' } }, (app) =>
      app.use(shop.routes()).use((context) => void (context.status = 418)),
    );
    const text = async (path: string, method = 'GET'): Promise<string> =>
      (await fetch(url + path, { method })).text();
    expect(await text('/shop/cart')).to.equal('cart');
    expect(await text('/shop/v1/pets', 'PUT')).to.equal('put');
    for (const path of [
      '/',
      '/livez',
      '/docs',
      '/v1/pets',
      '/shop/v1',
      '/shop/v1/pets/',
      '/shop/v1/Pets',
    ]) {
      expect((await fetch(url + path, { headers: KEY })).status, path).to.equal(418);
    }
    expect((await fetch(`${url}/shop/v1/pets`, { method: 'OPTIONS' })).status).to.equal(418);
    expect((await fetch(`${url}/shop/v1/pets`)).status).to.equal(401);
  });

  it('takes a body that koa-bodyparser has read exactly, judges and limits it', async () => {
    const url = await mounted([bodyParser()], { settings: { bodyLimit: 100 } });
    const exact = await fetch(
      `${url}/v1/pets`,
      create('{"name":"Rex","categoryId":9007199254740993}'),
    );
    expect(await exact.text()).to.include('"categoryId":9007199254740993');
    for (const [init, expected] of [
      [create('{"name":"Rex"}'), '400 invalid_pet'],
      [create(JSON.stringify({ name: 'x'.repeat(100) })), '413 payload_too_large'],
      [create(null), '400 missing_body'],
      [
        create('name=Rex', { 'content-type': 'application/x-www-form-urlencoded' }),
        '415 unsupported_media_type',
      ],
    ] as const) {
      expect(await sentOutcome(fetch(`${url}/v1/pets`, init))).to.equal(expected);
    }
    expect(log.failures).to.deep.equal([]);
  });

  it('takes a body whose request the host destroys for that of a client that left', async () => {
    const url = await mounted([
      ({ req }, next) => {
        req.once('resume', () => req.destroy());
        return next();
      },
    ]);
    await fetch(`${url}/v1/pets`, create()).catch(() => {});
    expect(log.lines.map(({ status, error }) => [status, error])).to.deep.equal([[408, undefined]]);
  });

  it('reads a body that koa-bodyparser has skipped, and leaves its bytes and the headers to later middleware', async () => {
    const seen: unknown[] = [];
    const later: Middleware = async (context, next) => {
      await next();
      seen.push(context.request.rawBody, context.get('content-type'));
    };
    const url = await mounted([bodyParser({ enableTypes: ['form'] }), later]);
    const type = 'application/json; v=1';
    const untyped = { ...create(new TextEncoder().encode(REX)), headers: KEY };
    for (const init of [create(REX, { 'content-type': type }), untyped]) {
      expect(await sentOutcome(fetch(`${url}/v1/pets`, init))).to.equal('201');
    }
    expect(seen).to.deep.equal([Buffer.from(REX), type, Buffer.from(REX), '']);
  });

  it('reads bodies by koa-bodyparser in the context of Koa, which other middleware can see or disable', async () => {
    const seen: unknown[] = [];
    const around: Middleware = async (context, next) => {
      Object.assign(context, { disableBodyParser: context.get('x-disable') === 'yes' });
      await next();
      seen.push([context.request.body, context.request.rawBody, context.get('content-encoding')]);
    };
    const url = await mounted([around]);
    const encoding = { 'content-encoding': 'Identity' };
    for (const headers of [{}, { 'x-disable': 'yes' }, encoding]) {
      expect(await sentOutcome(fetch(`${url}/v1/pets`, create(REX, headers)))).to.equal('201');
    }
    const bytes = Buffer.from(REX);
    expect(seen).to.deep.equal([
      [bytes, bytes, ''],
      [undefined, bytes, ''],
      [undefined, bytes, 'Identity'],
    ]);
  });

  it('types the state of the middleware that is added to it', () => {
    const router = animalStoreRouter(httpInterface());
    router.use(({ state }, next) => {
      const known: readonly [string | undefined, Principal | undefined] = [
        state.operation,
        state.principal,
      ];
      // @ts-expect-error: nothing else is in it
      return known.includes(state.user) ? undefined : next();
    });
    expect(router.stack).to.have.length(4);
  });
});
