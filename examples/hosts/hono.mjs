// The animal store in a Hono application on Node.js, below a prefix.
import { serve } from '@hono/node-server';
import { createFetchHandler } from 'animal-store/fetch';
import { Hono } from 'hono';
import { mount } from 'hono/mount';

export const PREFIX = '/shop';

export function listen(http, port) {
  const app = new Hono();
  app.all(`${PREFIX}/*`, mount(createFetchHandler(http))); // Hono strips the prefix
  app.get('/hours', (context) => context.json({ open: '9:00', close: '18:00' }));
  return serve({ fetch: app.fetch, hostname: '127.0.0.1', port });
}
