// The animal store in an Express application whose error middleware answers faults, those of the animal store too.
import { createNodeListener } from 'animal-store/node';
import express from 'express';

export const MOUNT_PATH = '/shop';

/** Starts the application. `report` gets every fault. */
export function listen(
  http,
  { port = 0, path = MOUNT_PATH, before = [], report = console.error } = {},
) {
  const app = express();
  app.disable('x-powered-by');
  for (const middleware of before) app.use(middleware);
  app.use(path, createNodeListener(http, { passFaults: true })); // by default the animal store answers faults itself
  app.use((error, _request, response, next) => {
    report(error);
    if (response.headersSent) return next(error);
    return response
      .status(error.status ?? 500)
      .json({ code: 'fault', message: 'The shop has a fault.' });
  });
  return app.listen(port, '127.0.0.1');
}
