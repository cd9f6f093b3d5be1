// Runs the service on node:http without Koa, for `npm run measure`. Loaded by ADAPTERS.
import { createNodeListener } from '../../build/src/adapters/http/node/index.js';
import { TOKENS, replace } from '../../build/src/bootstrap/index.js';
import { ContainerModule } from 'inversify';

export const adapter = new ContainerModule((options) =>
  replace(options, TOKENS.requestListener, [TOKENS.httpInterface], createNodeListener),
);
