// Runs the service on Fetch instead of Koa: an adapter that replaces the transport, loaded by a setting.
// With animal-store, @hono/node-server and hono installed:
//   ADAPTERS=./fetch-transport.mjs animal-store serve
import { getRequestListener } from '@hono/node-server';
import { createFetchHandler } from 'animal-store/fetch';

export const adapter = ({ replaceFrom, TOKENS }) => {
  replaceFrom(TOKENS.requestListener, async (context) => {
    const http = await context.getAsync(TOKENS.httpInterface);
    return getRequestListener(createFetchHandler(http), { overrideGlobalObjects: false });
  });
};
