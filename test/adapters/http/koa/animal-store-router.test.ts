import { Router } from '@koa/router';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { Agent, request as httpRequest } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { HttpInterfaceOptions } from '../../../../src/adapters/http/index.js';
import { animalStoreRouter, createKoaApp } from '../../../../src/adapters/http/koa/index.js';
import { until } from '../../../until.js';
import {
  KEY,
  KeptLog,
  REX,
  closeHosts,
  failing,
  httpInterface,
  sentOutcome,
  startHost,
} from '../fixtures.js';

const log = new KeptLog();
const failure = new Error('the disk is full');

const disable: Middleware = (context, next) => {
  context['disableBodyParser'] = true;
  return next();
};
const keepBytes: Middleware = async (context, next) => {
  const bytes: unknown = await buffer(context.req);
  Object.assign(context.request, { rawBody: bytes, body: {} });
  await next();
};
const keepText: Middleware = async (context, next) => {
  context.request.rawBody = await text(context.req);
  await next();
};

/** The router in a stranger's application, behind its own middleware. */
function mounted(
  before: readonly Middleware[],
  options: Partial<HttpInterfaceOptions> = {},
): Promise<string> {
  const app = new Koa();
  app.silent = true;
  for (const middleware of before) app.use(middleware);
  app.use(animalStoreRouter(httpInterface({ log, ...options })).routes());
  return startHost(app.callback());
}

const create = (body: string | null = REX, headers = {}): RequestInit => ({
  method: 'POST',
  headers: { ...KEY, 'content-type': 'application/json', ...headers },
  body,
});

/** Keeps what a response has on its way out. */
const seenBy =
  (seen: unknown[]): Middleware =>
  async (context, next) => {
    await next();
    const { operation, principal } = context.state;
    const { _matchedRoute: route, _matchedRouteName: name, status } = context;
    seen.push(status, route, name, operation, principal?.keyId);
  };

const ofHost: Middleware = (context, next) => {
  context.set({ Vary: 'Accept-Encoding', 'X-Host': 'kept' });
  return next();
};

/** Reads a body, and keeps no text of it. */
const otherParser: Middleware = async ({ req, request }, next) => {
  request.body = JSON.parse(await text(req));
  await next();
};

/** Reads the body, and keeps nothing. */
const reading: Middleware = async ({ req }, next) => {
  await text(req);
  await next();
};

/** Destroys a request as soon as its body is read. */
const leaving: Middleware = ({ req }, next) => {
  req.once('resume', () => req.destroy());
  return next();
};

describe('animalStoreRouter', () => {
  beforeEach(() => void log.lines.splice(0));
  afterEach(closeHosts);

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
    ['a create', '/v1/pets', create(), [201, '/v1/pets', 'createPet', 'createPet', 'any']],
    [
      'a get without a key',
      '/v1/pets/1',
      {},
      [401, '/v1/pets/:petId', 'getPet', 'getPet', undefined],
    ],
    ['another path', '/elsewhere', {}, [404, undefined, undefined, undefined, undefined]],
  ] as const)
    it(`tells the middleware around it status, route, operation and principal of ${what}`, async () => {
      const seen: unknown[] = [];
      await fetch((await mounted([seenBy(seen)])) + path, init);
      expect(seen).to.deep.equal(expected);
    });

  it('emits a failure once, and lets middleware replace the response', async () => {
    const errors: unknown[] = [];
    const app = new Koa().on('error', (error) => errors.push(error));
    app.use(async (context, next) => {
      await next();
      if (context.status === 500) Object.assign(context, { status: 502, body: 'of the host' });
    });
    app.use(animalStoreRouter(httpInterface({ animalStore: failing(failure) })).routes());
    const url = await startHost(app.callback());

    const response = await fetch(`${url}/v1/pets`, { headers: KEY });

    expect(`${response.status} ${await response.text()}`).to.equal('502 of the host');
    expect(errors).to.deep.equal([failure]);
  });

  it('adds to the Vary of the host, and keeps its other headers', async () => {
    const url = await mounted([ofHost], { settings: { corsOrigins: ['https://a.example'] } });

    const { headers } = await fetch(`${url}/v1/pets`, { headers: KEY });

    expect(headers.get('vary')).to.equal('Accept-Encoding, Origin');
    expect(headers.get('x-host')).to.equal('kept');
  });

  for (const [corsOrigins, expected] of [
    [['https://shop.example'], 204],
    [[], 404],
  ] as const)
    it(`answers OPTIONS with ${expected} if it allows ${corsOrigins.join() || 'no'} origins`, async () => {
      const url = await mounted([], { settings: { corsOrigins } });
      const headers = {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
      };
      const { status } = await fetch(`${url}/v1/pets`, { method: 'OPTIONS', headers });
      expect(status).to.equal(expected);
    });

  it('serves below every prefix that it is mounted at, by links that stay there', async () => {
    const shop = new Router();
    shop.use('/one', animalStoreRouter(httpInterface()).routes());
    shop.use('/:tenant/two', animalStoreRouter(httpInterface()).routes());
    const url = await startHost(new Koa().use(shop.routes()).callback());

    for (const prefix of ['/one', '/a%2Fb/two']) {
      const pets = `${url}${prefix}/v1/pets`;
      await fetch(pets, create());
      await fetch(pets, create());

      const page = await fetch(`${pets}?limit=1`, { headers: KEY });
      const [, link = ''] = /^<(.*)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? [];
      const next = await fetch(new URL(link, page.url), { headers: KEY });

      expect(await next.text(), prefix).to.match(/^\[\{"id":2,[^[]*\]$/);
      expect(await sentOutcome(fetch(`${pets}/2`, { headers: KEY }))).to.equal('200');
    }
  });

  for (const [method, path] of [
    ['PUT', '/v1/pets'],
    ['GET', '/livez'],
    ['GET', '/v1/Pets'],
  ] as const)
    it(`leaves ${method} ${path} to the next middleware`, async () => {
      const { status } = await fetch((await mounted([])) + path, { method, headers: KEY });
      expect(status).to.equal(404);
      expect(log.lines).to.deep.equal([]);
    });
});

describe('The body of a request on Koa', () => {
  beforeEach(() => void log.lines.splice(0));
  afterEach(closeHosts);

  for (const [what, init, expected] of [
    ['is damaged', create('{"name":"\ufffd","categoryId":1}'), '400 malformed_json'],
    ['is too large', create(REX.padEnd(101)), '413 payload_too_large'],
    ['is missing', create(null), '400 missing_body'],
    [
      'is a form',
      create('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      '415 unsupported_media_type',
    ],
  ] as const)
    it(`is refused if koa-bodyparser of the host has read it and it ${what}`, async () => {
      const url = await mounted([bodyParser()], { settings: { bodyLimit: 100 } });

      expect(await sentOutcome(fetch(`${url}/v1/pets`, init))).to.equal(expected);
      expect(log.failures).to.deep.equal([]);
    });

  for (const [what, type, parsers] of [
    ['koa-bodyparser of the host has read it', 'application/json', [bodyParser()]],
    ['koa-bodyparser of the host has skipped it', '', [bodyParser()]],
    ['the host has disabled koa-bodyparser', 'application/json', [disable, bodyParser()]],
    ['a parser of the host has kept its bytes', 'application/json', [keepBytes]],
    ['a parser of the host has kept only its text', 'application/json', [keepText]],
  ] as const)
    it(`is read to the last digit if ${what}`, async () => {
      const url = await mounted(parsers);
      const large = '{"name":"Rex","categoryId":9007199254740993}';
      const created = await fetch(`${url}/v1/pets`, {
        ...create(),
        headers: type === '' ? KEY : { ...KEY, 'content-type': type },
        body: Buffer.from(large),
      });
      expect(await created.text()).to.include('"categoryId":9007199254740993');
    });

  it('is missing if it is empty, and a middleware has read it', async () => {
    const refused = await sentOutcome(fetch(`${await mounted([reading])}/v1/pets`, create(null)));
    expect(refused).to.equal('400 missing_body');
  });

  it('is a failure of the host if another parser has read it and kept no text', async () => {
    const refused = await sentOutcome(fetch(`${await mounted([otherParser])}/v1/pets`, create()));
    expect(refused).to.equal('500 internal_error');
    expect(String(log.failures)).to.match(/has read the body/);
  });

  it('is not read from a client that leaves, which is no failure', async () => {
    await fetch(`${await mounted([leaving])}/v1/pets`, create()).catch(() => {});
    await until('the log has a line', () => log.lines.length > 0);
    expect(log.lines.map(({ status, error }) => [status, error])).to.deep.equal([[408, undefined]]);
  });

  it('is not read without a key, however large it is', async () => {
    const url = await mounted([]);
    const headers = { 'content-type': 'application/json', 'content-length': 1_000_000 };
    const sending = httpRequest(`${url}/v1/pets`, { method: 'POST', headers });
    sending.write('{'); // and nothing more
    const status = await new Promise((resolve) =>
      sending.once('response', (response) => resolve(response.statusCode)),
    );
    sending.destroy();
    expect(status).to.equal(401);
  });

  it('leaves its connection usable if it was too large', async () => {
    const url = `${await mounted([], { settings: { bodyLimit: 10 } })}/v1/pets`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const send = (method: string, body: string) =>
      new Promise((resolve, reject) => {
        const sending = httpRequest(
          url,
          { method, agent, headers: { ...KEY, 'transfer-encoding': 'chunked' } },
          (response) => response.resume().once('end', () => resolve(response.statusCode)),
        );
        sending.once('socket', (socket) => sockets.add(socket)).once('error', reject);
        sending.end(body);
      });

    const statuses = [await send('POST', ' '.repeat(200_000)), await send('POST', '{}')];

    agent.destroy();
    expect(statuses).to.deep.equal([413, 400]);
    expect(sockets.size, 'connections').to.equal(1);
  });
});

describe('createKoaApp', () => {
  afterEach(closeHosts);

  it('sends the files of the docs page byte for byte if it is mounted in another application', async () => {
    const docs = [{ name: 'a.js', type: 'text/javascript', gzip: gzipSync('const a = 1;') }];
    const app = new Koa();
    for (const middleware of createKoaApp(httpInterface({ docs })).middleware) app.use(middleware);

    const response = await fetch(`${await startHost(app.callback())}/docs/a.js`);

    expect(response.headers.get('content-encoding')).to.equal('gzip');
    expect(await response.text()).to.equal('const a = 1;');
  });

  for (const [path, status, expected] of [
    ['/v1/pets', 200, '418'],
    ['/nowhere', 404, '418 route_not_found'],
  ] as const)
    it(`lets middleware change the ${status} if it is mounted in another application`, async () => {
      const [operations, others] = createKoaApp(httpInterface()).middleware;
      const host = new Koa().use(async (context, next) => {
        await next();
        if (context.status === status) context.status = 418;
      });
      host.use((context, next) => operations?.(context, async () => others?.(context, next)));

      const changed = fetch((await startHost(host.callback())) + path, { headers: KEY });

      expect(await sentOutcome(changed)).to.equal(expected);
    });

  it('answers 500 where the application fails, and prints no broken connection', async () => {
    const http = httpInterface();
    http.handle = () => Promise.reject(failure);
    const printed: unknown[] = [];
    const app = Object.assign(createKoaApp(http), {
      onerror: (error: Error) => void printed.push(error),
    });
    const url = await startHost(app.callback());

    const { status } = await fetch(`${url}/v1/pets`);
    app.emit('error', Object.assign(new Error('write EPIPE'), { syscall: 'write' }));

    expect(status).to.equal(500);
    expect(printed).to.deep.equal([failure]);
  });
});
