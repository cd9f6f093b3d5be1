// The animal store in your Express application: the whole HTTP interface below a prefix, and a page of your own that
// returns an animal. API_KEY is its key; PORT defaults to 8080.
import { createAnimalStore, isAnimalStoreError, parseInt64, stringify } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { createKoaApp } from 'animal-store/koa';
import { openMemoryStore } from 'animal-store/memory';
import express from 'express';

const { pets } = openMemoryStore();
const animalStore = createAnimalStore({ pets });
const http = new HttpInterface({
  animalStore,
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness((call) => pets.check(call)),
  settings: { publicUrl: '/shop/v1' }, // Express strips the prefix; this adds it to Location and Link
});

const app = express();
// Before anything that reads bodies, like express.json(): the animal store reads them exactly.
app.use('/shop', createKoaApp(http).callback());
app.get('/window/:id', async (request, response) => {
  const id = parseInt64(request.params.id); // Number(...) would round
  if (id === undefined) return response.sendStatus(404);
  try {
    response.type('json').send(stringify(await animalStore.getPet(id))); // response.json() refuses bigints
  } catch (error) {
    if (!isAnimalStoreError(error) || error.code !== 'pet_not_found') throw error;
    response.status(404).type('text').send(error.message);
  }
});

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
