// The animal store in an h3 application, below a prefix, as a function from Request to Response: on any runtime.
import { createFetchHandler } from 'animal-store/fetch';
import { H3, serve } from 'h3';

export const MOUNT_PATH = '/shop';

/** Starts the application. `before` are middlewares of yours that run earlier. */
export async function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const app = new H3();
  for (const middleware of before) app.use(middleware);
  app.mount(path, createFetchHandler(http, { mount: path })); // h3 strips the prefix
  app.get('/hours', () => ({ open: '9:00', close: '18:00' }));

  const server = serve(app, { hostname: '127.0.0.1', port, silent: true });
  await server.ready();
  return server.node.server;
}
