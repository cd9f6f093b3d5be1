// The animal store in a Koa application, behind a body parser. Put it before the parser if you can: the parser decodes
// bodies to text first, and answers malformed ones itself.
import bodyParser from '@koa/bodyparser';
import { animalStoreRouter } from 'animal-store/koa';
import Koa from 'koa';

export function listen(http, { port = 0, before = [] } = {}) {
  const app = new Koa();
  for (const middleware of before) app.use(middleware);
  app.use(bodyParser()); // the animal store uses its ctx.request.rawBody
  app.use(animalStoreRouter(http).routes());
  return app.listen(port, '127.0.0.1');
}
