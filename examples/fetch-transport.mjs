// Runs the service over Fetch instead of Koa: a module that binds another transport, loaded by a setting.
// With animal-store, @hono/node-server, hono and inversify installed beside it:
//   ADAPTERS=./fetch-transport.mjs animal-store serve
import { getRequestListener } from '@hono/node-server';
import { TOKENS } from 'animal-store/bootstrap';
import { createFetchHandler } from 'animal-store/fetch';
import { ContainerModule } from 'inversify';

export const adapter = new ContainerModule(({ rebind }) => {
  rebind(TOKENS.requestListener).toResolvedValue(
    (http) => getRequestListener(createFetchHandler(http), { overrideGlobalObjects: false }),
    [TOKENS.httpInterface],
  );
});
