import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { Router } from '@koa/router';
import { expect } from 'chai';
import Koa, { type Middleware } from 'koa';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import type { HttpInterface } from '../../src/adapters/http/index.js';
import { createKoaApp } from '../../src/adapters/http/koa/index.js';
import { httpContract, resourceContract } from '../contract/http-contract.js';
import { fetchSubjects, listenerSubjects, type OpenHttp } from '../contract/http/http-subjects.js';
import { PACKAGE, cleanUp, temporaryFolder } from '../service/running-service.js';
import { failsBroken, type BrokenAdapters } from './broken-adapters.js';

/** A Fetch handler with a fault around it. */
const handled = (
  fault: (
    handle: ReturnType<typeof createFetchHandler>,
    http: HttpInterface,
  ) => (request: Request) => Promise<Response>,
): OpenHttp => fetchSubjects((http) => fault(createFetchHandler(http), http));

/** Changes requests before they are handled. */
const requested = (change: (request: Request) => Request | Promise<Request>): OpenHttp =>
  handled((handle) => async (request) => handle(await change(request)));

/** Changes the URL of requests. */
const targeted = (change: (url: string) => string): OpenHttp =>
  requested((request) => new Request(change(request.url), request));

/** Changes bodies. */
const bodied = (change: (body: Buffer) => Buffer | string): OpenHttp =>
  requested(async (request) => {
    if (request.body === null) return request;
    const body = Buffer.from(change(Buffer.from(await request.arrayBuffer())));
    const headers = new Headers(request.headers);
    if (headers.has('content-length')) headers.set('Content-Length', String(body.length));
    return new Request(request.url, {
      method: request.method,
      headers,
      body: new Uint8Array(body),
    });
  });

/** Changes responses. */
const answered = (
  change: (response: Response, request: Request) => Response | Promise<Response>,
): OpenHttp => handled((handle) => async (request) => change(await handle(request), request));

/** Changes the headers of responses. */
const headed = (
  change: (headers: Headers, response: Response, request: Request) => void,
): OpenHttp =>
  answered((response, request) => {
    const headers = new Headers(response.headers);
    change(headers, response, request);
    return new Response(response.body, { status: response.status, headers });
  });

/** A request listener with a fault around it. */
const listened = (
  fault: (listener: RequestListener, http: HttpInterface) => RequestListener,
): OpenHttp =>
  listenerSubjects((http) => {
    const handle = createKoaApp(http).callback();
    return fault((request, response) => void handle(request, response), http);
  });

/** What a transport may do to requests. */
const requests: BrokenAdapters<OpenHttp> = {
  // Drops the second of two headers.
  'answers 401 invalid_api_key to a list with two Authorization headers, the first of them valid':
    listened((listener) => (request, response) => {
      const seen = new Set<string>();
      const raw = request.rawHeaders.splice(0);
      for (let index = 0; index < raw.length; index += 2) {
        const name = raw[index] ?? '';
        if (!seen.has(name.toLowerCase())) request.rawHeaders.push(name, raw[index + 1] ?? '');
        seen.add(name.toLowerCase());
      }
      listener(request, response);
    }),
  // Takes an API key also as the password of Basic credentials.
  'answers 401 missing_api_key to a list with Basic credentials': requested((request) => {
    const [, encoded = ''] = /^Basic (.*)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    const [, password = ''] = Buffer.from(encoded, 'base64').toString().split(':');
    if (!password.includes('static-key')) return request;
    return new Request(request, { headers: { Authorization: `Bearer ${password}` } });
  }),
  'answers 404 at /v1/pets%2F1': targeted((url) => url.replace('%2F', '/')),
  'answers 404 at /v1//pets': targeted((url) => url.replaceAll(/(?<!:)\/+/g, '/')),
  'answers 404 at /v1/%ZZ': targeted((url) => encodeURI(decodeURI(url))),
  'finds no animal with the id 1%2F2': targeted((url) => url.replace('%2F2', '')),
  // Keeps the last of two parameters.
  'refuses a limit twice, once with its name percent-encoded': targeted((url) => {
    const parsed = new URL(url);
    parsed.search = new URLSearchParams(Object.fromEntries(parsed.searchParams)).toString();
    return parsed.href;
  }),
  'links to the next page, and the link repeats a second question mark': targeted((url) =>
    url.split('?', 2).join('?'),
  ),
  // Lets a header change the method.
  'does not let a header change the method': requested((request) => {
    const method = request.headers.get('x-http-method-override');
    return method === null
      ? request
      : new Request(request.url, { method, headers: request.headers });
  }),
  // Parses and writes JSON again, except where that would change a number.
  'refuses a second member name': bodied((body) =>
    /\d{16}/.test(String(body)) ? body : JSON.stringify(JSON.parse(String(body))),
  ),
  'refuses a body with Latin-1 in its name as malformed': bodied(String),
  'answers 401 to a body without a key without telling the client to send it': listened(
    (listener) => (request, response) => {
      response.writeContinue();
      listener(request, response);
    },
  ),
};

/** What a transport may do to responses. */
const responses: BrokenAdapters<OpenHttp> = {
  'sends no body in a response to HEAD': answered((response, { method }) =>
    method === 'HEAD' ? new Response('[]', response) : response,
  ),
  'sends the Content-Length of every body, for HEAD too': headed((headers, _, { method }) => {
    if (method === 'HEAD') headers.set('Content-Length', '0');
  }),
  'lists animals as a bare array, with a link to the next page': headed((headers) =>
    headers.delete('Link'),
  ),
  'says on every response of getPet that it is deprecated, and on no other': headed(
    (headers, { status }) => {
      if (status === 404) headers.delete('Deprecation');
    },
  ),
  'stores a categoryId of 9007199254740993': answered(async (response) =>
    Response.json(await response.json(), response),
  ),
  'lets only clients cache, and only what a GET returned': headed((headers, _, { method }) => {
    if (method === 'GET') headers.set('Cache-Control', 'public, max-age=60');
  }),
  // Caches lists.
  'sends a list again once it has another animal, or a next page': handled((handle) => {
    const kept = new Map<string, Response>();
    return async (request) => {
      if (request.method !== 'GET' || !request.url.includes('/pets?')) return handle(request);
      const response = kept.get(request.url) ?? (await handle(request));
      kept.set(request.url, response);
      return response.clone();
    };
  }),
  'gives every response a request id': headed((headers) => headers.delete('X-Request-Id')),
  'reveals in no response what the service is made of': headed((headers) =>
    headers.set('X-Powered-By', 'Express'),
  ),
  // Closes the connection after every response.
  'keeps the connection open after an animal that is refused': listened(
    (listener) => (request, response) => {
      response.setHeader('Connection', 'close');
      listener(request, response);
    },
  ),
};

/** Hundreds of cases are rows alike. Only some have a broken adapter. */
const NO_CASE_NEEDS_ONE = /./;

failsBroken(
  httpContract,
  (fault?: OpenHttp) => fault ?? listened((listener) => listener),
  { ...requests, ...responses },
  NO_CASE_NEEDS_ONE,
);

/** A resource beside the animals, behind the keys of the interface; with `fault`, behind that middleware instead. */
const shelves = (fault?: Middleware): OpenHttp =>
  listenerSubjects((http) => {
    const router = new Router();
    router.get('/v1/shelves', (context) => {
      context.body = [];
    });
    const guarded = createKoaApp(http, router).callback();
    const own = fault ? new Koa().use(fault).use(router.routes()).callback() : guarded;
    return (request, response) =>
      void (request.url?.startsWith('/v1/shelves') ? own : guarded)(request, response);
  });

/** Checks keys as most middleware does. */
const checking: Middleware = (context, next) => {
  const [, key = ''] = /^Bearer (.*)$/i.exec(context.get('authorization')) ?? [];
  return key.includes('static-key') ? next() : context.throw(401, 'No key.');
};

const badlyGuarded: BrokenAdapters<Middleware> = {
  'answers 401 missing_api_key to a list with no Authorization header': (_, next) => next(),
  'answers 401 invalid_api_key to a list with the key and another word': checking,
  'does not let a key that may only write GET a list': (_, next) => next(),
  'gives every error the shape of the interface': checking,
  'gives every response a request id': checking,
  'lets only clients cache, and only what a GET returned': checking,
};

failsBroken(resourceContract('/shelves'), shelves, badlyGuarded, NO_CASE_NEEDS_ONE);

/** Tests of a transport that rejects after its response. */
const TESTS = `
import { once } from 'node:events';
import { createNodeListener } from '${import.meta.resolve('../../src/adapters/http/node/index.js')}';
import { bindContract, httpContract, listenerSubjects } from '${import.meta.resolve('../contract/index.js')}';
const open = listenerSubjects(async (http) => {
  const listener = await createNodeListener(http);
  return async (request, response) => {
    listener(request, response);
    await once(response, 'close');
    throw new Error('late');
  };
});
const only = (name) => name === 'is alive while it is busy';
bindContract(httpContract, open, { describe, it, after }, { only });`;

describe('A transport that leaves a rejection unhandled', () => {
  afterEach(cleanUp);

  it('fails its case under mocha, which drops such rejections', async () => {
    const file = join(temporaryFolder(), 'transport.test.mjs');
    await writeFile(file, TESTS);
    const mocha = join(PACKAGE, 'node_modules/mocha/bin/mocha.js');
    const ran = spawnSync(process.execPath, [mocha, '--no-config', '--timeout', '90000', file], {
      encoding: 'utf8',
    });
    expect(ran.stdout).to.match(/is alive while it is busy:\s+Uncaught Error: late/);
  });
});
