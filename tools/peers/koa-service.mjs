// The animals by Koa, @koa/router and koa-bodyparser, by hand: what most programs on Koa look like, equipped as the
// service is.
import { Router } from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import * as animals from './animals.mjs';

const app = new Koa();
app.use(async (context, next) => {
  if (animals.equip(context.req, context.res, () => context._matchedRoute)) {
    await next();
  } else {
    context.status = 401;
    context.body = { message: 'The API key is missing or wrong.' };
  }
  if (context.method !== 'GET') return;
  context.body = JSON.stringify(context.body);
  context.type = 'json';
  context.etag = animals.tagOf(context.body);
  if (context.fresh) context.status = 304;
});

const router = new Router();
router.post('/v1/pets', bodyParser({ enableTypes: ['json'] }), (context) => {
  const { body } = context.request;
  if (!animals.isNewPet(body)) context.throw(400, 'The animal is not valid.');
  const created = animals.create(body);
  context.status = 201;
  context.set('Location', `/v1/pets/${created.id}`);
  context.body = created;
});
router.get('/v1/pets', (context) => {
  const page = animals.pageOf(context.query);
  if (page === undefined) context.throw(400, 'The query is not valid.');
  const { pets, link } = animals.list(page);
  if (link) context.set('Link', link);
  context.body = pets;
});
router.get('/v1/pets/:petId', (context) => {
  const found = animals.find(context.params.petId);
  if (found === undefined) context.status = 404;
  context.set(animals.deprecation);
  context.body = found ?? { message: 'There is no such animal.' };
});
app.use(router.routes());

const server = app.listen(0, '127.0.0.1', () => animals.announce(server));
