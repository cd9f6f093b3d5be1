import { errorResponse } from '../error-responses.js';
import type { HttpInterface } from '../http-interface.js';
import type { HttpResponse } from '../http-message.js';
import { requestId } from '../request-headers.js';
import { FetchRequest } from './fetch-request.js';

/** Handles a request. Never rejects. Aborting the request's signal ends the work: the client has disconnected. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Options of `createFetchHandler`. */
export interface FetchHandlerOptions {
  /**
   * The path that the host removes before it calls the handler: Location and Link begin with it. It begins with a slash
   * and does not end with one, such as `/shop`. Default: none.
   */
  readonly mount?: string;
}

/**
 * The HTTP interface as a function from a Fetch request to its response, with nothing but the Fetch standard. It reads
 * no more of a body than `settings.bodyLimit`, and waits no longer for it than `settings.bodyDeadline`.
 * @throws {TypeError} `mount` is not such a path.
 */
export function createFetchHandler(
  http: HttpInterface,
  { mount = '' }: FetchHandlerOptions = {},
): FetchHandler {
  if (!/^(?:\/[^/?#]+)*$/.test(mount)) throw new TypeError('mount must be a path such as /shop');
  return async (request) => {
    try {
      const sent = new FetchRequest(request, mount);
      return toResponse(await http.handle(sent), sent.method);
    } catch (error) {
      // A header is not valid. If this rejected, the server would respond in its own way.
      const id = requestId(request.headers.get('x-request-id') ?? undefined);
      return toResponse(errorResponse(error, id), request.method);
    }
  };
}

const utf8 = new TextEncoder();

function toResponse({ status, headers, body }: HttpResponse, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  const bytes = utf8.encode(body);
  return new Response(method === 'HEAD' ? null : bytes, {
    status,
    headers: { ...headers, 'Content-Length': String(bytes.byteLength) }, // For HEAD too.
  });
}
