// The animal store in a Koa application: a router with its operations, as one middleware of yours.
import { animalStoreRouter } from 'animal-store/koa';
import Koa from 'koa';

export function listen(http, port) {
  const app = new Koa();
  app.use(animalStoreRouter(http).routes()); // leaves other paths and methods to the next middleware
  app.use((context) => {
    if (context.path === '/hours') context.body = { open: '9:00', close: '18:00' };
  });
  return app.listen(port, '127.0.0.1');
}
