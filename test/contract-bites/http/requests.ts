import { gunzipSync } from 'node:zlib';
import { createFetchHandler } from '../../../src/adapters/http/fetch/fetch-handler.js';
import { bodied, handled, listened, requested, targeted, withSettings, type HttpBite } from './broken.js';

const pathOf = (url: string): string => new URL(url).pathname;

/** Changes the path alone. */
const inPath =
  (change: (path: string) => string) =>
  (url: string): string => {
    const { origin, pathname, search } = new URL(url);
    return `${origin}${change(pathname)}${search}`;
  };

/** What a transport may make of the request before anyone judges it. */
export const requests: readonly HttpBite[] = [
  listened(
    'drops the second of two headers',
    'answers 401 invalid_api_key to listPets with two Authorization headers, the first of them good',
    (listener) => (request, response) => {
      const seen = new Set<string>();
      const raw = request.rawHeaders.splice(0);
      for (let index = 0; index < raw.length; index += 2) {
        const name = raw[index] ?? '';
        if (!seen.has(name.toLowerCase())) request.rawHeaders.push(name, raw[index + 1] ?? '');
        seen.add(name.toLowerCase());
      }
      listener(request, response);
    },
  ),
  targeted('decodes the path before it looks for a route', 'serves nothing at /v1/pets%2F1', (url) =>
    pathOf(url).includes('%2F') ? inPath(decodeURIComponent)(url) : url,
  ),
  targeted(
    'merges slashes',
    'serves nothing at /v1//pets',
    inPath((path) => path.replaceAll(/\/+/g, '/')),
  ),
  targeted(
    'takes a slash at the end for none',
    'serves nothing at /v1/pets/',
    inPath((path) => path.replace(/\/$/, '')),
  ),
  targeted(
    'takes capitals in a path for small letters',
    'serves nothing at /v1/Pets',
    inPath((path) => path.toLowerCase()),
  ),
  handled(
    'fails on a path that is no percent-encoding',
    'serves nothing at /v1/%ZZ',
    (handle) => async (request) => {
      try {
        decodeURI(pathOf(request.url));
      } catch {
        return Response.json({ message: 'Bad Request' }, { status: 400 });
      }
      return handle(request);
    },
  ),
  targeted('decodes the query twice', 'refuses a limit of %2535', (url) => url.replaceAll('%25', '%')),
  targeted(
    'keeps the last of two parameters of a name',
    'refuses a limit given twice, once with its name percent-encoded',
    (url) => {
      const parsed = new URL(url);
      parsed.search = new URLSearchParams(Object.fromEntries(parsed.searchParams)).toString();
      return parsed.href;
    },
  ),
  targeted(
    'ends the query at a second question mark',
    'takes a second question mark for a part of a name',
    (url) => url.split('?', 2).join('?'),
  ),
  requested('lets a header change the method', 'does not let a header change the method', (request) => {
    const method = request.headers.get('x-http-method-override');
    return method === null ? request : new Request(request.url, { method, headers: request.headers });
  }),
  targeted(
    'lets anyone reach it below another path',
    'serves nothing at /pets, for which no key is wanted',
    (url) => inPath((path) => (path.startsWith('/pets') ? `/v1${path}` : path))(url),
  ),
  requested(
    'lets a proxy header change the path',
    'does not let a proxy header change the path',
    (request) => {
      const path = request.headers.get('x-original-url');
      return path === null ? request : new Request(new URL(path, request.url), request);
    },
  ),
  requested('takes a key from the query', 'does not take a key from the query as api_key', (request) => {
    const key = new URL(request.url).searchParams.get('api_key');
    if (key === null) return request;
    return new Request(request.url, { headers: { Authorization: `Bearer ${key}` } });
  }),
  bodied('parses the body and writes it anew', 'refuses a second member name', (body) => {
    // It leaves alone what it would spoil otherwise.
    const text = body.toString();
    return /\d{16}/.test(text) ? text : JSON.stringify(JSON.parse(text));
  }),
  bodied('trims the body', 'refuses a body that begins with a byte order mark as malformed', (body) =>
    body.toString().trim(),
  ),
  bodied(
    'replaces bytes that are no UTF-8',
    'refuses a name that holds a byte that UTF-8 never has as malformed',
    (body) => body.toString(),
  ),
  bodied('takes Latin-1 for UTF-8', 'keeps a name of "U+00E9" exactly', (body) =>
    Buffer.from(body.toString('latin1')),
  ),
  requested('inflates what comes compressed', 'refuses a body of the encoding gzip', async (request) => {
    if (request.headers.get('content-encoding') !== 'gzip') return request;
    const headers = new Headers(request.headers);
    headers.delete('content-encoding');
    const body = Buffer.from(await request.arrayBuffer());
    const inflated = body[0] === 0x1f ? gunzipSync(body) : body;
    headers.set('Content-Length', String(inflated.length));
    return new Request(request.url, { method: 'POST', headers, body: new Uint8Array(inflated) });
  }),
  handled('reads a body to its end, however long', 'refuses a body of a byte more than 256 KiB', (_, http) =>
    createFetchHandler(withSettings(http, { bodyLimit: Infinity })),
  ),
  bodied('cuts a body at the limit', 'refuses a body of a byte more than 256 KiB in chunks', (body) =>
    body.subarray(0, 256 * 1024),
  ),
  requested(
    'takes a body without a Content-Type for a form',
    'reads a body without a Content-Type as JSON',
    (request) => {
      if (request.headers.has('content-type')) return request;
      const headers = new Headers(request.headers);
      headers.set('Content-Type', 'application/x-www-form-urlencoded');
      return new Request(request, { headers });
    },
  ),
  listened(
    'reads a body before it looks at the key',
    'answers 401 to a body without a key without telling the client to send it',
    (listener) => (request, response) => {
      request.once('readable', () => listener(request, response));
      request.read(0);
    },
  ),
  listened(
    'ignores that a client waits to be told to continue',
    'says to continue once the body is wanted',
    (listener) => (request, response) => {
      response.writeContinue = () => {};
      listener(request, response);
    },
  ),
];
