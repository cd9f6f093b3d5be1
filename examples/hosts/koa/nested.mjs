// The animal store in nested routers of a Koa application, one path for each tenant. Location and Link follow the path.
import { Router } from '@koa/router';
import { animalStoreRouter } from 'animal-store/koa';
import Koa from 'koa';
import mount from 'koa-mount';

export const MOUNT_PATH = '/shops/north';

export function listen(http, { port = 0, before = [] } = {}) {
  const animals = animalStoreRouter(http);
  const tenants = new Router({ prefix: '/shops' });
  tenants.use('/:tenant', animals.routes()); // /shops/north/v1/pets

  const app = new Koa();
  for (const middleware of before) app.use(middleware);
  app.use(tenants.routes());
  app.use(mount('/outer', mount('/inner', animals.routes()))); // /outer/inner/v1/pets
  return app.listen(port, '127.0.0.1');
}
