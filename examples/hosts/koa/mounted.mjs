// The whole animal store below a prefix of a Koa application, by koa-mount. Location and Link have the prefix.
import { createKoaApp } from 'animal-store/koa';
import Koa from 'koa';
import mount from 'koa-mount';

export const MOUNT_PATH = '/shop';

export function listen(http, { port = 0, path = MOUNT_PATH, before = [] } = {}) {
  const app = new Koa();
  for (const middleware of before) app.use(middleware);
  app.use(mount(path, createKoaApp(http)));
  return app.listen(port, '127.0.0.1');
}
