// The animals by nothing but node:http: about the least that serving them can cost. No key, no checks, no log.
import { createServer } from 'node:http';
import * as animals from './animals.mjs';

const send = (response, status, value) => {
  const body = JSON.stringify(value);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
};

const server = createServer((request, response) => {
  const { method, url } = request;
  if (method === 'GET' && url.startsWith('/v1/pets/'))
    return send(response, 200, animals.find(url.slice(9)));
  if (method === 'GET') {
    const { status, limit = 20 } = Object.fromEntries(new URLSearchParams(url.split('?')[1]));
    return send(response, 200, animals.list({ status, limit: Number(limit) }).pets);
  }
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => send(response, 201, animals.create(JSON.parse(text))));
});
server.listen(0, '127.0.0.1', () => animals.isListening(server.address().port));
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
