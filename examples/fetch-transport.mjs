// Runs the service on Fetch instead of Koa: a module that replaces the transport, loaded by a setting.
// With animal-store, @hono/node-server, hono and inversify installed:
//   ADAPTERS=./fetch-transport.mjs animal-store serve
import { getRequestListener } from '@hono/node-server';
import { TOKENS, replace } from 'animal-store/bootstrap';
import { createFetchHandler } from 'animal-store/fetch';
import { ContainerModule } from 'inversify';

export const adapter = new ContainerModule((options) => {
  replace(options, TOKENS.requestListener, [TOKENS.httpInterface], (http) =>
    getRequestListener(createFetchHandler(http), { overrideGlobalObjects: false }),
  );
});
