// The animal store in a server of node:http, below /v1. Your program responds everywhere else.
import { createServer } from 'node:http';
import { createNodeListener } from 'animal-store/node';

export function listen(http, port) {
  const animals = createNodeListener(http);
  const server = createServer((request, response) => {
    if (/^\/v1(?:\/|$)/.test(request.url)) return void animals(request, response);
    response.setHeader('Content-Type', 'text/plain');
    response.end('The shop. Its animals are at /v1/pets.\n');
  });
  return server.listen(port, '127.0.0.1');
}
