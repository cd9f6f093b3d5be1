// The animal store on Deno.
import { createFetchHandler } from 'animal-store/fetch';

/** Starts the server. `before` are functions of yours that run earlier. */
export function listen(http, { port = 0, before = [] } = {}) {
  const animals = createFetchHandler(http);
  return Deno.serve({ hostname: '127.0.0.1', port, onListen: () => {} }, async (request) => {
    for (const step of before) await step(request);
    return animals(request); // other paths too: it answers them with 404
  });
}
