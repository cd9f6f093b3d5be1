// The animal store in a Koa application, with a log line and a route of its own that returns an animal.
import { isAnimalStoreError, parseInt64, stringifyJson } from 'animal-store';
import { animalStoreRouter } from 'animal-store/koa';
import Koa from 'koa';

export function listen(http, port, animalStore) {
  const app = new Koa();
  app.use(async (context, next) => {
    await next();
    const { operation, principal } = context.state; // set by the router
    if (operation) console.error(operation, principal?.keyId ?? 'without a key', context.status);
  });
  // Below settings.basePath. Other paths and methods go on to the next middleware.
  app.use(animalStoreRouter(http).routes());
  app.use(async (context) => {
    const [, digits = ''] = /^\/window\/(-?\d+)$/.exec(context.path) ?? [];
    const id = parseInt64(digits); // Number(digits) would round
    if (id === undefined) return context.throw(404);
    try {
      context.body = stringifyJson(await animalStore.getPet(id)); // Koa's JSON.stringify refuses bigints
      context.type = 'application/json';
    } catch (error) {
      if (isAnimalStoreError(error) && error.code === 'pet_not_found')
        context.throw(404, error.message);
      throw error;
    }
  });
  return app.listen(port, '127.0.0.1');
}
