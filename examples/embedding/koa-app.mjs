// The animal store in your Koa application: its operations below a prefix, your middleware around them, and your own
// route that returns an animal. API_KEY is its key; PORT defaults to 8080.
import { createAnimalStore, isAnimalStoreError, parseInt64, stringifyJson } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { animalStoreRouter } from 'animal-store/koa';
import { openMemoryStore } from 'animal-store/memory';
import Koa from 'koa';

if (!process.env.API_KEY) throw new Error('Set API_KEY.');
const { pets, check } = openMemoryStore();
const animalStore = createAnimalStore({ pets });
const router = animalStoreRouter(
  new HttpInterface({
    animalStore,
    authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
    readiness: new Readiness(check),
    settings: { basePath: '/shop/v1' },
  }),
);

const app = new Koa();
app.use(async (context, next) => {
  await next();
  const { operation, principal } = context.state; // set by the router
  if (operation) console.error(operation, principal?.keyId ?? 'without a key', context.status);
});
app.use(router.routes()); // other paths and methods go on to the next middleware
app.use(async (context) => {
  const [, digits = ''] = /^\/window\/(-?\d+)$/.exec(context.path) ?? [];
  const id = parseInt64(digits); // Number(digits) would round
  if (id === undefined) return context.throw(404);
  try {
    context.body = stringifyJson(await animalStore.getPet(id)); // as text: Koa's JSON.stringify refuses bigints
    context.type = 'application/json';
  } catch (error) {
    if (isAnimalStoreError(error) && error.code === 'pet_not_found')
      context.throw(404, error.message);
    throw error;
  }
});

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
