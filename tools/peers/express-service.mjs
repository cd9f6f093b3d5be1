// The animals by Express.
import * as animals from './animals.mjs';

const express = animals.load('express');

const app = express();
app.disable('x-powered-by');
app.set('etag', animals.tagOf);
app.use((request, response, next) => {
  const began = performance.now();
  const id = animals.newRequestId();
  const { method, path, ip: clientAddress, headers } = request;
  response.set(animals.commonHeaders(id, method));
  response.on('finish', () =>
    animals.logResponse({
      requestId: id,
      method,
      path,
      operation: request.route?.path,
      clientAddress,
      userAgent: headers['user-agent'],
      status: response.statusCode,
      bytes: Number(response.get('content-length')),
      milliseconds: performance.now() - began,
    }),
  );
  if (animals.isAuthorized(headers.authorization)) next();
  else response.status(401).json({ message: 'The API key is missing or wrong.' });
});
app.post('/v1/pets', express.json(), ({ body }, response) => {
  if (!animals.isNewPet(body)) return response.status(400).json({ message: 'The animal is not valid.' });
  const created = animals.create(body);
  return response.status(201).location(`/v1/pets/${created.id}`).json(created);
});
app.get('/v1/pets', (request, response) => {
  const query = animals.checkedQuery(request.query);
  if (query === undefined) return response.status(400).json({ message: 'The query is not valid.' });
  const { pets, link } = animals.list(query);
  if (link) response.set('Link', link);
  return response.json(pets);
});
app.get('/v1/pets/:petId', ({ params }, response) => {
  const found = animals.find(Number(params.petId));
  response.set(animals.deprecation);
  if (found === undefined) response.status(404);
  response.json(found ?? { message: 'There is no such animal.' });
});

const server = app.listen(0, '127.0.0.1', () => animals.isListening(server.address().port));
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
