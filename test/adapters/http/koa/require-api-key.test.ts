import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import {
  BusyError,
  type Admission,
  type HttpInterfaceOptions,
} from '../../../../src/adapters/http/index.js';
import { UNBOUNDED } from '../../../../src/adapters/http/admission.js';
import { requireApiKey } from '../../../../src/adapters/http/koa/index.js';
import { stringifyJson } from '../../../../src/json.js';
import {
  KEY,
  KeptLog,
  closeHosts,
  httpInterface,
  keepAlive,
  sentOutcome,
  startHost,
} from '../fixtures.js';

const log = new KeptLog();

/** An application with one route of its own, for keys that may read. */
async function guarding(
  route: Middleware,
  options: Partial<HttpInterfaceOptions> = {},
  ...before: readonly Middleware[]
): Promise<string> {
  const app = new Koa();
  app.silent = true;
  for (const middleware of before) app.use(middleware);
  const settings = { corsOrigins: ['https://shop.example'], requestDeadline: 60_000 };
  app.use(requireApiKey(httpInterface({ log, settings, ...options }), 'pets:read'));
  app.use(route);
  return startHost(app.callback());
}

const get = (url: string, headers = {}): Promise<Response> =>
  fetch(url, { headers: { ...KEY, ...headers } });

const never: Middleware = () => {
  throw new Error('the route must not be called');
};

describe('requireApiKey', () => {
  keepAlive();
  afterEach(closeHosts);

  it('lets a caller with the scope pass, and tells the route who it is', async () => {
    const url = await guarding((context) => {
      context.body = stringifyJson({ id: 2n ** 63n - 1n, by: context.state['principal'].keyId });
    });

    const response = await get(url, { 'x-request-id': 'r-1', origin: 'https://shop.example' });

    expect(await response.text()).to.equal('{"id":9223372036854775807,"by":"any"}');
    expect(response.headers.get('x-request-id')).to.equal('r-1');
    expect(response.headers.get('access-control-allow-origin')).to.equal(null);
    expect(log.lines, 'lines of the log').to.deep.equal([]);
  });

  for (const [what, headers, options, expected] of [
    ['no key', { authorization: '' }, {}, '401 missing_api_key'],
    [
      'a key without the scope',
      {},
      {
        authenticator: {
          authenticate: async () => ({ ok: true, principal: { keyId: 'k', scopes: new Set() } }),
        },
      },
      '403 insufficient_scope',
    ],
    [
      'too many requests',
      {},
      {
        admission: {
          admit() {
            throw new BusyError('too many requests');
          },
        },
      },
      '503 service_unavailable',
    ],
  ] as ReadonlyArray<[string, object, Partial<HttpInterfaceOptions>, string]>)
    it(`refuses a request with ${what}, in the Error shape`, async () => {
      const response = await get(await guarding(never, options), headers);

      expect(response.headers.get('x-request-id')).to.match(/^[\w-]{36}$/);
      expect(await sentOutcome(response)).to.equal(expected);
    });

  it('ends a request at the deadline, whose place is kept until the route is done', async () => {
    let work: Promise<unknown> | undefined;
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const admission: Admission = {
      admit: () => ({
        ...UNBOUNDED,
        end(abandoned) {
          work = abandoned;
        },
      }),
    };
    const url = await guarding(() => promise, { admission, settings: { requestDeadline: 20 } });

    expect(await sentOutcome(get(url))).to.equal('503 service_unavailable');
    expect(work, 'what is still in progress').to.be.instanceOf(Promise);
    finish();
    await work;
  });

  it('leaves a response alone that the route has begun, also after the deadline', async () => {
    let caught: unknown;
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const ending: Middleware = async (_context, next) => {
      await next().catch((error: unknown) => {
        caught = error;
      });
      finish();
    };
    const streaming: Middleware = async (context) => {
      context.respond = false;
      context.res.write('begun');
      await promise;
      context.res.end();
    };

    const url = await guarding(streaming, { settings: { requestDeadline: 20 } }, ending);

    expect(await (await get(url)).text()).to.equal('begun');
    expect(caught).to.equal(undefined);
  });

  it('leaves what a route throws to the error handling of the host', async () => {
    const failure = new Error('of the route');
    let caught: unknown;
    const handling: Middleware = async (context, next) => {
      await next().catch((error: unknown) => {
        caught = error;
      });
      Object.assign(context, { status: 418, body: 'handled' });
    };

    const response = await get(await guarding(() => Promise.reject(failure), {}, handling));

    expect([response.status, await response.text()]).to.deep.equal([418, 'handled']);
    expect(caught).to.equal(failure);
  });
});
