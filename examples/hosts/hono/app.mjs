// The animal store in a Hono application on Node.js, below a prefix.
import { serve } from '@hono/node-server';
import { createFetchHandler } from 'animal-store/fetch';
import { Hono } from 'hono';
import { mount } from 'hono/mount';

export const MOUNT_PATH = '/shop';

/** Starts the application. `before` are middlewares of yours that run earlier. */
export function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const app = new Hono();
  for (const middleware of before) app.use(middleware);
  app.get('/hours', (context) => context.json({ open: '9:00', close: '18:00' }));
  app.all(`${path}/*`, mount(createFetchHandler(http, { mount: path }))); // Hono strips the prefix
  return serve({ fetch: app.fetch, hostname: '127.0.0.1', port });
}
