// The animal store within an Express application of one's own: the whole HTTP interface below a prefix, and a page
// of the shop's that returns an animal. Run with PORT, or 8080.
import { createAnimalStore, isAnimalStoreError, parseInt64, stringify } from 'animal-store';
import { ApiKeyAuthenticator } from 'animal-store/api-keys';
import { HttpInterface, Readiness } from 'animal-store/http';
import { createKoaApp } from 'animal-store/koa';
import { MemoryPetRepository } from 'animal-store/memory';
import express from 'express';

const pets = new MemoryPetRepository();
const store = createAnimalStore({ pets });
const http = new HttpInterface({
  store,
  authenticator: new ApiKeyAuthenticator({ staticKeys: [process.env.API_KEY] }),
  readiness: new Readiness((call) => pets.check(call)),
  settings: { publicUrl: '/shop/v1' }, // Express takes the prefix off; Location and Link have it again
});

const app = express();
// Before anything that reads bodies, like express.json(): the animal store reads its own, exactly.
app.use('/shop', createKoaApp(http).callback());
app.get('/window/:id', async (request, response) => {
  const id = parseInt64(request.params.id); // Number(...) would round
  if (id === undefined) return response.sendStatus(404);
  try {
    response.type('json').send(stringify(await store.getPet(id))); // response.json() refuses bigints
  } catch (error) {
    if (!isAnimalStoreError(error) || error.code !== 'pet_not_found') throw error;
    response.status(404).type('text').send(error.message);
  }
});

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
