// The animal store in an Express application, below a prefix. Location and Link have the prefix.
import { createNodeListener } from 'animal-store/node';
import express from 'express';

export const MOUNT_PATH = '/shop';

/** Starts the application. `before` are middlewares of yours that run earlier. */
export function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const app = express();
  app.disable('x-powered-by'); // responses need not say what the shop is made of
  for (const middleware of before) app.use(middleware);
  app.use(path, createNodeListener(http)); // before express.json(), which would round large integers
  app.use(express.json());
  app.get('/hours', (_request, response) => response.json({ open: '9:00', close: '18:00' }));
  return app.listen(port, '127.0.0.1');
}
