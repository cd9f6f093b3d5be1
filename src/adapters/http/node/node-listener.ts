import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpInterface } from '../http-interface.js';
import { NodeRequest } from './node-request.js';
import { writeResponse } from './write-response.js';

/**
 * The animal store as a `RequestListener`, which is also a middleware of Express and its like. It answers every
 * request, resolves when the response is written, and never rejects.
 *
 * With `passFailures`, an `HttpResponse.failure` goes to `next` if the host gives one: the error handlers of Express
 * then respond. Default: false.
 */
export function createNodeListener(
  http: HttpInterface,
  { passFailures = false }: { readonly passFailures?: boolean } = {},
) {
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    // A default, because hosts read `listener.length`, and leave the response to others if it is three.
    next: ((failure: Error) => unknown) | null = null,
  ): Promise<void> => {
    try {
      const answer = await http.handle(new NodeRequest(request, response));
      if (passFailures && answer.failure && next) next(answer.failure);
      else writeResponse(response, answer);
    } catch {
      // A header is invalid, or the host has responded: then its headers were sent.
      if (!response.headersSent) response.destroy();
    }
  };
}
