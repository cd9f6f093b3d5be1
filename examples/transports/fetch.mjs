// Runs the service on Fetch instead of Koa: an adapter that replaces the transport.
// With animal-store, @hono/node-server and hono installed:
//   ADAPTERS=./fetch.mjs npx animal-store serve
import { getRequestListener } from '@hono/node-server';
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { createFetchHandler } from 'animal-store/fetch';

export const adapter = new ContainerModule(({ rebind }) => {
  rebind(TOKENS.requestListener).toResolvedValue(
    (http) => getRequestListener(createFetchHandler(http), { overrideGlobalObjects: false }),
    [TOKENS.httpInterface],
  );
});
