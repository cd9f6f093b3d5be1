import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpInterface } from '../http-interface.js';
import { NodeRequest, writeResponse } from './node-request.js';

/**
 * The animal store as a `RequestListener`, which is also a middleware of Express and its like. It answers every request,
 * resolves when the response is written, and never rejects.
 *
 * `passFaults` passes faults, which are responses of 500 and above, to `next` where the host gives one, as Express does:
 * its error handlers respond then. Default: no, the interface responds.
 */
export function createNodeListener(
  http: HttpInterface,
  { passFaults = false }: { readonly passFaults?: boolean } = {},
) {
  // `next` is no third parameter: hosts read `listener.length`, and leave the response to others if it is three.
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    ...[next]: [next?: (fault: Error) => unknown, ...more: unknown[]]
  ): Promise<void> => {
    try {
      const answer = await http.handle(new NodeRequest(request, response));
      if (passFaults && answer.fault && next) next(answer.fault);
      else writeResponse(request, response, answer);
    } catch {
      if (!response.headersSent) response.destroy(); // a header is not valid; else the host has responded
    }
  };
}
