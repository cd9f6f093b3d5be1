import type { ServerResponse } from 'node:http';
import type { HttpResponse } from '../http-message.js';

/** Writes a response of the interface, with the headers that the host has set. */
export function writeResponse(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
): void {
  const { Vary, ...others } = headers;
  if (Vary) response.appendHeader('Vary', Vary);
  const hasBody = status !== 204 && status !== 304;
  const length = hasBody && { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...others, ...length });
  response.end(hasBody && response.req.method !== 'HEAD' ? body : undefined);
}
