// The animal store in an Express application, below a prefix.
import { createNodeListener } from 'animal-store/node';
import express from 'express';

export const PREFIX = '/shop';

export function listen(http, port) {
  const app = express();
  app.use(PREFIX, createNodeListener(http)); // before express.json(), which would round large integers
  app.use(express.json());
  app.get('/hours', (_request, response) => response.json({ open: '9:00', close: '18:00' }));
  return app.listen(port, '127.0.0.1');
}
