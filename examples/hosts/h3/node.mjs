// The animal store in an h3 application on Node.js, below a prefix, as a listener of node:http.
import { createNodeListener } from 'animal-store/node';
import { H3, fromNodeHandler, serve, withBase } from 'h3';

export const MOUNT_PATH = '/shop';

/** Starts the application. `before` are middlewares of yours that run earlier. */
export async function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const animals = fromNodeHandler(createNodeListener(http));
  const app = new H3();
  for (const middleware of before) app.use(middleware);
  app.use((event) => {
    const { req } = event.runtime.node;
    req.originalUrl = req.url; // withBase strips the prefix, which Location and Link need
  });
  app.all(`${path}/**`, withBase(path, animals));

  const server = serve(app, { hostname: '127.0.0.1', port, silent: true });
  await server.ready();
  return server.node.server;
}
