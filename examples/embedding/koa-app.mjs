// The animal store within a Koa application of one's own: the whole HTTP interface below a prefix, and a page of
// the shop's that returns an animal. Run with PORT, or 8080.
import { createAnimalStore, isAnimalStoreError, parseInt64, stringify } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { animalStore } from 'animal-store/koa';
import { MemoryPetRepository } from 'animal-store/memory';
import Koa from 'koa';

const pets = new MemoryPetRepository();
const store = createAnimalStore({ pets });
const animals = animalStore(
  new HttpInterface({
    store,
    authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
    readiness: new Readiness((call) => pets.check(call)),
    settings: { basePath: '/shop/v1' }, // so that Location and Link have the prefix
  }),
);

const app = new Koa();
app.use((context, next) => (/^\/shop\/v1(?:\/|$)/.test(context.path) ? animals(context, next) : next()));
app.use(async (context) => {
  const [, digits = ''] = /^\/window\/(-?\d+)$/.exec(context.path) ?? [];
  const id = parseInt64(digits); // Number(digits) would round
  if (id === undefined) return context.throw(404);
  try {
    context.body = stringify(await store.getPet(id)); // as text: Koa's own JSON.stringify refuses bigints
    context.type = 'application/json';
  } catch (error) {
    if (isAnimalStoreError(error) && error.code === 'pet_not_found') context.throw(404, error.message);
    throw error;
  }
});

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
