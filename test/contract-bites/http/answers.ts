import { createHash } from 'node:crypto';
import { answered, handled, headed, listened, requested, type HttpBite } from './broken.js';

const PETS = /\/v1\/pets(?:\?|$)/;

/** The answer with another body, its length told. */
function withBody({ status, headers }: Response, body: string, type?: string): Response {
  const changed = new Headers(headers);
  if (type !== undefined) changed.set('Content-Type', type);
  changed.set('Content-Length', String(Buffer.byteLength(body)));
  return new Response(body, { status, headers: changed });
}

const ofErrors =
  (change: (response: Response) => Response | Promise<Response>) =>
  (response: Response): Response | Promise<Response> =>
    response.status >= 400 && response.body !== null ? change(response) : response;

/** What a transport may make of the answer, or answer by itself. */
export const answers: readonly HttpBite[] = [
  handled('answers 404 before 401', 'looks at the key before the path', (handle) => async (request) => {
    if (/\/pets(?:[/?]|$)/.test(request.url)) return handle(request);
    return handle(new Request(new URL('/not-served', request.url), { headers: request.headers }));
  }),
  handled(
    'answers 404 to a method that it does not know',
    'answers 405 to PROPFIND /pets',
    (handle) => (request) =>
      handle(request.method === 'PROPFIND' ? new Request(new URL('/not-served', request.url)) : request),
  ),
  handled(
    'wants a key for OPTIONS',
    'tells the methods of /pets without a key',
    (handle) => (request) =>
      handle(
        request.method === 'OPTIONS' && !request.headers.has('authorization')
          ? new Request(request.url)
          : request,
      ),
  ),
  handled(
    'answers OPTIONS by itself',
    'names the methods in OPTIONS as in 405',
    (handle) => async (request) =>
      request.method === 'OPTIONS'
        ? new Response(null, { status: 204, headers: { Allow: 'GET, POST' } })
        : handle(request),
  ),
  answered(
    'answers a HEAD with a body',
    'answers a HEAD with the length of what a GET would get, and no body',
    (response, { method }) => (method === 'HEAD' ? new Response('[]', response) : response),
  ),
  listened(
    'writes a body behind the headers of an answer to HEAD',
    'sends nothing between the headers of an answer to HEAD and the next answer',
    (listener) => (request, response) => {
      const end = response.end.bind(response);
      response.end = ((...rest: unknown[]) => {
        // Node itself would write none.
        if (request.method === 'HEAD') response.once('finish', () => request.socket.write('[]'));
        return (end as (...args: unknown[]) => typeof response)(...rest);
      }) as typeof response.end;
      listener(request, response);
    },
  ),
  headed(
    'says that a HEAD has no bytes',
    'answers HEAD with the status and the headers of GET, for listPets',
    (headers, _, { method }) => {
      if (method === 'HEAD') headers.set('Content-Length', '0');
    },
  ),
  requested('knows no HEAD', 'gets the head of an animal', (request) =>
    request.method === 'HEAD'
      ? new Request(request.url, { method: 'DELETE', headers: request.headers })
      : request,
  ),
  headed(
    'loses the Link',
    'gives as many animals as the limit says, and a link while there are more',
    (headers) => headers.delete('Link'),
  ),
  headed('loses the Location of a new animal', 'says with a status what belongs to it', (headers) =>
    headers.delete('Location'),
  ),
  headed(
    'loses what says that an operation is deprecated where it answers an error',
    'says that getPet is deprecated, when it goes and what replaces it, with 404',
    (headers, { status }) => {
      if (status === 404) headers.delete('Deprecation');
    },
  ),
  answered(
    'sends an int64 through a number',
    'keeps a categoryId of 9007199254740993 to the digit in create, get and list',
    async (response) => {
      const text = await response.text();
      if (text === '') return new Response(null, response);
      return withBody(response, JSON.stringify(JSON.parse(text)));
    },
  ),
  answered(
    'tells characters for bytes',
    'says of every body how many bytes it has, and sends as many',
    async (response) => {
      if (response.body === null) return response;
      const text = await response.text();
      const headers = new Headers(response.headers);
      headers.set('Content-Length', String(text.length));
      return new Response(text, { status: response.status, headers });
    },
  ),
  headed('names another charset', 'names the media type and the charset of every body', (headers) => {
    if (headers.has('Content-Type')) headers.set('Content-Type', 'application/json; charset=iso-8859-1');
  }),
  headed(
    'names a type where there is no body',
    'names the media type and the charset of every body',
    (headers, { status }) => {
      if (status === 304) headers.set('Content-Type', 'application/json; charset=utf-8');
    },
  ),
  answered('writes Latin-1', 'writes every body in UTF-8', async (response) => {
    if (response.body === null) return response;
    const bytes = Buffer.from(await response.text(), 'latin1');
    const headers = new Headers(response.headers);
    headers.set('Content-Length', String(bytes.length));
    return new Response(bytes, { status: response.status, headers });
  }),
  answered(
    'answers errors as pages',
    'answers every error in the shape of the interface',
    ofErrors((response) => withBody(response, '<h1>Error</h1>', 'text/html')),
  ),
  answered(
    'answers errors in a shape of its own',
    'answers every error in the shape of the interface',
    ofErrors(async (response) => {
      const { message }: { message: string } = JSON.parse(await response.text());
      return withBody(response, JSON.stringify({ statusCode: response.status, error: 'Error', message }));
    }),
  ),
  headed(
    'lets proxies keep lists',
    'lets caches keep nothing but what a GET found, and that for the client alone',
    (headers, _, { method }) => {
      if (method === 'GET') headers.set('Cache-Control', 'public, max-age=60');
    },
  ),
  handled(
    'keeps answers, and gives them again',
    'sends a list again once another animal is in it, and once there comes to be a next page',
    (handle) => {
      const kept = new Map<string, Response>();
      return async (request) => {
        const key = `${request.url} ${request.headers.get('authorization')}`;
        if (request.method !== 'GET' || !PETS.test(request.url)) return handle(request);
        const response = kept.get(key) ?? (await handle(request));
        kept.set(key, response);
        return response.clone();
      };
    },
  ),
  headed(
    'makes entity tags of its own',
    'gives an entity tag to what a GET found, and to nothing else',
    (headers, { status }) => {
      const tag = createHash('sha256').update(String(status)).digest('base64url').slice(0, 22);
      headers.set('ETag', `"${tag}"`);
    },
  ),
  headed('sends no request id', 'gives every answer a request id', (headers) =>
    headers.delete('X-Request-Id'),
  ),
  requested(
    'makes a request id of its own for every request',
    'keeps a request id of Req_42.a-b',
    (request) => {
      const headers = new Headers(request.headers);
      headers.delete('X-Request-Id');
      return new Request(request, { headers });
    },
  ),
  headed('tells what it is made of', 'tells in no answer what it is made of', (headers) =>
    headers.set('X-Powered-By', 'Express'),
  ),
  headed('lets browsers guess types', 'has no answer taken for another type than it names', (headers) =>
    headers.delete('X-Content-Type-Options'),
  ),
  headed(
    'loses the challenge of a 401',
    'answers 401 missing_api_key to listPets with no Authorization header',
    (headers) => headers.delete('WWW-Authenticate'),
  ),
  headed(
    'lets pages of every origin read its answers',
    'lets no other origin read its answers, unless told to',
    (headers) => headers.set('Access-Control-Allow-Origin', '*'),
  ),
  listened(
    'closes the connection after every answer',
    'leaves the connection open after it added an animal',
    (listener) => (request, response) => {
      response.setHeader('Connection', 'close');
      listener(request, response);
    },
  ),
  listened(
    'sends no Date',
    'dates every answer that comes over a socket',
    (listener) => (request, response) => {
      response.sendDate = false;
      listener(request, response);
    },
  ),
];
