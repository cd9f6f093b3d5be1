// Runs the service without a line for each request, for `npm run measure`. Loaded by ADAPTERS.
import { TOKENS, replace } from '../../build/src/bootstrap/index.js';
import { ContainerModule } from 'inversify';

export const adapter = new ContainerModule((options) =>
  replace(options, TOKENS.httpLog, { responded: () => {} }),
);
