import { errorAnswer } from '../answer/error-answers.js';
import type { HttpInterface } from '../http-interface.js';
import type { HttpAnswer } from '../http-message.js';
import { commonHeaders, requestId } from '../request/request-id.js';
import { createRouteFinder } from '../routes/route-finder.js';
import { FetchRequest } from './fetch-request.js';

/** Answers a request. Never rejects. The request's signal, aborted, ends the work: its client has gone. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * The animal store as a function from a Fetch request to its response, with nothing but what the Fetch standard
 * has. It answers every request it gets. Reads no more of a body than the limit of the settings; how long a
 * client may take to send it is for whoever listens to say.
 */
export function createFetchHandler(http: HttpInterface): FetchHandler {
  const findRoute = createRouteFinder(http.routes);
  const { bodyLimit } = http.settings;
  return async (request) => {
    try {
      const sent = new FetchRequest(request, bodyLimit);
      const found = findRoute(sent.path);
      return toResponse(await http.answer(sent, found?.route, found?.parameters ?? {}), sent.method);
    } catch (error) {
      // Whoever listens would make an answer of its own of it.
      const id = requestId(request.headers.get('x-request-id') ?? undefined);
      const { headers, ...answer } = errorAnswer(error, id);
      return toResponse({ ...answer, headers: { ...commonHeaders(id), ...headers } }, request.method);
    }
  };
}

const utf8 = new TextEncoder();

function toResponse({ status, headers, body }: HttpAnswer, method: string): Response {
  if (status === 204 || status === 304) return new Response(null, { status, headers });
  const bytes = utf8.encode(body);
  return new Response(method === 'HEAD' ? null : bytes, {
    status,
    headers: { ...headers, 'Content-Length': String(bytes.byteLength) }, // said to HEAD too, which gets no body
  });
}
