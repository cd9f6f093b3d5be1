// Runs the service on node:http without Koa, for `npm run measure`. Loaded by ADAPTERS.
import { createNodeListener } from '../../build/src/adapters/http/node/index.js';

export const adapter = ({ replaceFrom, TOKENS }) =>
  replaceFrom(TOKENS.requestListener, async (context) =>
    createNodeListener(await context.getAsync(TOKENS.httpInterface)),
  );
