// The animal store in a Koa application, behind the usual middlewares: they see its responses, and may change them.
import etag from '@koa/etag';
import { animalStoreRouter } from 'animal-store/koa';
import Koa from 'koa';
import compress from 'koa-compress';
import conditional from 'koa-conditional-get';
import helmet from 'koa-helmet';

export function listen(http, { port = 0, before = [] } = {}) {
  const app = new Koa();
  for (const middleware of before) app.use(middleware);
  app.use(helmet());
  app.use(compress());
  app.use(conditional());
  app.use(etag()); // keeps the entity tags that the animal store sends
  app.use(animalStoreRouter(http).routes());
  return app.listen(port, '127.0.0.1');
}
