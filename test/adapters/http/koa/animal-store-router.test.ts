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

/** Middleware that begins a response itself. */
const beginning: Middleware = async ({ res }, next) => {
  res.writeHead(202).write('of ');
  await next().finally(() => setImmediate(() => res.end('the host')));
};

/** Middleware that destroys a request as soon as its body is read. */
const destroying: Middleware = ({ req }, next) => {
  req.once('resume', () => req.destroy());
  return next();
};

const respondWith =
  (body: string, status = 200): Middleware =>
  (context) => {
    Object.assign(context, { status, body });
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

  for (const [what, path, init, expected] of [
    ['a list', '/v1/pets', { headers: KEY }, ['/v1/pets', 'listPets', 'listPets', 'any']],
    ['a create', '/v1/pets', create(), ['/v1/pets', 'createPet', 'createPet', 'any']],
    [
      'a HEAD',
      '/v1/pets/1',
      { headers: KEY, method: 'HEAD' },
      ['/v1/pets/:petId', 'getPet', 'getPet', 'any'],
    ],
    ['a get without a key', '/v1/pets/1', {}, ['/v1/pets/:petId', 'getPet', 'getPet', undefined]],
    ['another path', '/elsewhere', {}, [undefined, undefined, undefined, undefined]],
  ] as ReadonlyArray<[string, string, RequestInit, unknown[]]>) {
    it(`tells the middleware around it route, operation and principal of ${what}`, async () => {
      const seen: unknown[] = [];
      const around: Middleware = async (context, next) => {
        await next();
        const { operation, principal } = context.state;
        const { _matchedRoute: route, _matchedRouteName: name } = context;
        seen.push(route, name, operation, principal?.keyId);
      };

      await fetch((await mounted([around])) + path, init);

      expect(seen).to.deep.equal(expected);
    });
  }

  it('answers 500 where the application fails, and prints no broken connection', async () => {
    const fault = new Error('cannot be written');
    const http = httpInterface();
    http.handle = () => Promise.reject(fault);
    const printed: unknown[] = [];
    const app = Object.assign(createKoaApp(http), {
      onerror: (error: Error) => printed.push(error),
    });
    const url = await serve(app.callback());

    const operation = await fetch(`${url}/v1/pets`);
    const other = await fetch(`${url}/nowhere`);
    app.emit('error', Object.assign(new Error('write EPIPE'), { syscall: 'write' }));

    expect([operation.status, other.status]).to.deep.equal([500, 500]);
    expect(printed, 'printed').to.deep.equal([fault, fault]);
  });

  for (const [path, status] of [
    ['/v1/pets', 200],
    ['/nowhere', 404],
  ] as const) {
    it(`lets middleware change the ${status} of a whole application that is mounted in another`, async () => {
      const [operations, others] = createKoaApp(httpInterface()).middleware;
      const host = new Koa().use(outer);
      host.use((context, next) => operations?.(context, async () => others?.(context, next)));
      const url = await serve(host.callback());

      const response = await fetch(url + path, { headers: KEY });

      const { length } = await response.text();
      expect(response.status).to.equal(status);
      expect(response.headers.get('x-outer')).to.equal(`${status} ${length}`);
    });
  }

  describe('emits a fault once, as Koa does,', () => {
    const fault = new Error('the disk is full');
    for (const [title, before, status, body, told, header] of [
      [
        'and responds to it, through the middleware around it',
        outer,
        500,
        /"internal_error"/,
        fault,
        'kept',
      ],
      ['and lets middleware change the response', as502, 502, /"internal_error"/, fault, 'kept'],
      [
        'and leaves a response that middleware has begun',
        beginning,
        202,
        /^of the host$/,
        fault,
        'kept',
      ],
      [
        'and leaves errors of others to Koa',
        (context) => context.throw(503, 'of the host'),
        503,
        /^Service Unavailable$/,
        'ServiceUnavailableError: of the host',
        null,
      ],
    ] as ReadonlyArray<[string, Middleware, number, RegExp, unknown, string | null]>) {
      it(title, async () => {
        const app = new Koa();
        const errors: unknown[] = [];
        app.on('error', (error) => errors.push(error));
        app.use(async (context, next) => {
          context.set('X-Before', 'kept');
          await next();
        });
        app.use(before);
        app.use(animalStoreRouter(httpInterface({ animalStore: failing(fault) })).routes());
        const url = await serve(app.callback());

        const response = await fetch(`${url}/v1/pets`, { headers: KEY });

        expect(response.status).to.equal(status);
        expect(await response.text()).to.match(body);
        expect(response.headers.get('x-before')).to.equal(header);
        expect(errors.map(String), 'emitted').to.deep.equal([String(told)]);
      });
    }
  });

  describe('where a browser asks before it sends a key', () => {
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    };

    for (const path of ['/v1/pets', '/v1/pets/1']) {
      it(`allows ${path} to the origins in corsOrigins`, async () => {
        const url = await mounted([], { settings: { corsOrigins: ['https://shop.example'] } });

        const { status, headers } = await fetch(url + path, preflight);

        expect(status).to.equal(204);
        expect(headers.get('access-control-allow-origin')).to.equal('https://shop.example');
      });
    }

    it('leaves OPTIONS to others without corsOrigins', async () => {
      const { status } = await fetch(`${await mounted([])}/v1/pets`, preflight);
      expect(status).to.equal(404);
    });
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
    const pets = '/mounted/a%2Fb/shop/v1/pets';

    const created = await fetch(url + pets, create());
    await fetch(url + pets, create());
    const found = await fetch(`${url}${pets}/2`, { headers: KEY });
    const list = await fetch(`${url}${pets}?limit=1`, { headers: KEY });

    expect(created.headers.get('location')).to.equal(`${pets}/1`);
    expect(found.status).to.equal(200);
    expect(list.headers.get('link')).to.equal(`<${pets}?limit=1&after=1>; rel="next"`);
  });

  it('gives Location the prefix of a host that sets originalUrl, and takes its rawBody', async () => {
    const koa = createKoaApp(httpInterface()).callback();
    const host = await serve((request, response) => {
      const originalUrl = request.url ?? '';
      const url = originalUrl.replace('/shop', '');
      return koa(Object.assign(request, { originalUrl, url, rawBody: REX }), response);
    });

    const { headers } = await fetch(`${host}/shop/v1/pets?`, create('unread'));

    expect(headers.get('location')).to.equal('/shop/v1/pets/1');
  });

  for (const [method, path, expected] of [
    ['GET', '/shop/cart', '200 cart'],
    ['PUT', '/shop/v1/pets', '200 put'],
    ['GET', '/', '418 next'],
    ['GET', '/livez', '418 next'],
    ['GET', '/docs', '418 next'],
    ['GET', '/v1/pets', '418 next'],
    ['GET', '/shop/v1', '418 next'],
    ['GET', '/shop/v1/pets/', '418 next'],
    ['GET', '/shop/v1/Pets', '418 next'],
    ['OPTIONS', '/shop/v1/pets', '418 next'],
  ] as const) {
    it(`leaves ${method} ${path} to the next middleware, under the prefix /shop`, async () => {
      const shop = new Router()
        .get('/shop/cart', respondWith('cart'))
        .put('/shop/v1/pets', respondWith('put'));
      const url = await mounted([], { settings: { basePath: '/shop/v1' } }, (app) =>
        app.use(shop.routes()).use(respondWith('next', 418)),
      );

      const response = await fetch(url + path, { method, headers: KEY });

      expect(`${response.status} ${await response.text()}`).to.equal(expected);
    });
  }

  for (const [what, init, expected] of [
    ['is not a valid animal', create('{"name":"Rex"}'), '400 invalid_pet'],
    ['is too large', create(JSON.stringify({ name: 'x'.repeat(100) })), '413 payload_too_large'],
    ['is missing', create(null), '400 missing_body'],
    [
      'is a form',
      create('name=Rex', { 'content-type': 'application/x-www-form-urlencoded' }),
      '415 unsupported_media_type',
    ],
  ] as const) {
    it(`refuses a body that koa-bodyparser has read and that ${what}`, async () => {
      const url = await mounted([bodyParser()], { settings: { bodyLimit: 100 } });

      const refused = await sentOutcome(fetch(`${url}/v1/pets`, init));

      expect(refused).to.equal(expected);
      expect(log.failures).to.deep.equal([]);
    });
  }

  it('takes a body that koa-bodyparser has read to the last digit', async () => {
    const url = await mounted([bodyParser()]);

    const created = await fetch(
      `${url}/v1/pets`,
      create('{"name":"Rex","categoryId":9007199254740993}'),
    );

    expect(await created.text()).to.include('"categoryId":9007199254740993');
  });

  it('takes a body whose request the host destroys for that of a client that left', async () => {
    const url = await mounted([destroying]);

    await fetch(`${url}/v1/pets`, create()).catch(() => {});

    expect(log.lines.map(({ status, error }) => [status, error])).to.deep.equal([[408, undefined]]);
  });

  for (const [what, init, type] of [
    [
      'with a type',
      create(REX, { 'content-type': 'application/json; v=1' }),
      'application/json; v=1',
    ],
    ['without one', { ...create(new TextEncoder().encode(REX)), headers: KEY }, ''],
  ] as const) {
    it(`reads a body ${what} that koa-bodyparser has skipped, and leaves its bytes to others`, async () => {
      const seen: unknown[] = [];
      const later: Middleware = async (context, next) => {
        await next();
        seen.push(context.request.rawBody, context.get('content-type'));
      };
      const url = await mounted([bodyParser({ enableTypes: ['form'] }), later]);

      const created = await sentOutcome(fetch(`${url}/v1/pets`, init));

      expect(created).to.equal('201');
      expect(seen).to.deep.equal([Buffer.from(REX), type]);
    });
  }

  const bytes = Buffer.from(REX);
  for (const [what, headers, parsed] of [
    ['by koa-bodyparser', {}, bytes],
    ['itself if other middleware disables koa-bodyparser', { 'x-disable': 'yes' }, undefined],
    ['itself if it names its encoding', { 'content-encoding': 'Identity' }, undefined],
  ] as ReadonlyArray<[string, Record<string, string>, unknown]>) {
    it(`reads a body ${what}, and leaves it in the context of Koa`, async () => {
      const seen: unknown[] = [];
      const around: Middleware = async (context, next) => {
        Object.assign(context, { disableBodyParser: context.get('x-disable') === 'yes' });
        await next();
        seen.push(context.request.body, context.request.rawBody, context.get('content-encoding'));
      };
      const url = await mounted([around]);

      const created = await sentOutcome(fetch(`${url}/v1/pets`, create(REX, headers)));

      expect(created).to.equal('201');
      expect(seen).to.deep.equal([parsed, bytes, headers['content-encoding'] ?? '']);
    });
  }

  it('types the state of the middleware that is added to it', () => {
    const router = animalStoreRouter(httpInterface());

    router.use(({ state }, next) => {
      const known: ReadonlyArray<string | Principal | undefined> = [
        state.operation,
        state.principal,
      ];
      // @ts-expect-error: nothing else is in it
      return known.includes(state.user) ? undefined : next();
    });

    expect(router.stack).to.have.length(4);
  });
});
