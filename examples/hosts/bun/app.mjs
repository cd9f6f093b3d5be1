// The animal store on Bun.
import { createFetchHandler } from 'animal-store/fetch';

/** Starts the server. `before` are functions of yours that run earlier. */
export function listen(http, { port = 0, before = [] } = {}) {
  const animals = createFetchHandler(http);
  return Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      for (const step of before) await step(request);
      return animals(request); // other paths too: it answers them with 404
    },
  });
}
