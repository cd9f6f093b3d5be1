import type { HttpRequest } from '../../../src/adapters/http/http-message.js';

/** A list of the animals, without a body, with these headers; their names in lower case. */
export const requestWith = (
  headers: Readonly<Record<string, string>>,
  request: Partial<HttpRequest> = {},
): HttpRequest => ({
  method: 'GET',
  path: '/v1/pets',
  query: '',
  header: (name) => headers[name],
  isRepeated: () => false,
  announcesBody: false,
  hasBody: async () => false,
  readBody: async () => new Uint8Array(),
  onGone: () => {},
  ...request,
});
