import { ContainerModule } from 'inversify';
import { createKoaApp } from '../../adapters/http/koa/animal-store-router.js';
import { provide } from '../provide.js';
import { TOKENS } from '../tokens.js';

/** The HTTP interface carried by Koa. Rebind the one token for another transport. */
export const koaTransport = new ContainerModule((options) => {
  provide(options, TOKENS.requestListener, [TOKENS.httpInterface], (http) => {
    const handle = createKoaApp(http).callback();
    return (request, response) => void handle(request, response);
  });
});
