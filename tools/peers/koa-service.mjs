// The animals by Koa, @koa/router and koa-bodyparser, by hand: what most programs on Koa look like. With BARE=1:
// without the equipment.
import * as animals from './animals.mjs';

const Koa = animals.load('koa');
const { Router } = animals.load('@koa/router');
const bodyParser = animals.load('koa-bodyparser');

const STATUSES = new Set(['available', 'pending', 'sold']);
const isNewPet = ({ name, categoryId, status }) =>
  typeof name === 'string' &&
  /\S/.test(name) &&
  Number.isInteger(categoryId) &&
  (status === undefined || STATUSES.has(status));

/** The query of a list, or undefined if it is not valid. */
function pageOf({ status, limit = '20', cursor = '0' }) {
  const page = { status, limit: Number(limit), cursor: Number(cursor) };
  const isValid =
    Number.isInteger(page.limit) &&
    page.limit >= 1 &&
    page.limit <= 100 &&
    Number.isInteger(page.cursor) &&
    page.cursor >= 0 &&
    (status === undefined || STATUSES.has(status));
  return isValid ? page : undefined;
}

/** Equips the application as the service is. */
function equip(app) {
  app.use(async (context, next) => {
    const began = performance.now();
    const requestId = animals.newRequestId();
    await next();
    context.set(animals.commonHeaders(requestId, context.method));
    if (context.method === 'GET') {
      context.body = JSON.stringify(context.body);
      context.type = 'json';
      context.etag = animals.tagOf(context.body);
      if (context.fresh) context.status = 304;
    }
    context.res.once('finish', () =>
      animals.logResponse({
        requestId,
        method: context.method,
        path: context.path,
        operation: context._matchedRoute,
        clientAddress: context.ip,
        userAgent: context.get('user-agent') || undefined,
        status: context.status,
        bytes: context.length,
        milliseconds: performance.now() - began,
      }),
    );
  });
  app.use((context, next) => {
    if (animals.isAuthorized(context.headers.authorization)) return next();
    context.status = 401;
    context.body = { message: 'The API key is missing or wrong.' };
    return undefined;
  });
}

const app = new Koa();
if (!animals.isBare) equip(app);
const router = new Router();
router.post('/v1/pets', bodyParser({ enableTypes: ['json'] }), (context) => {
  const { body } = context.request;
  if (!isNewPet(body)) context.throw(400, 'The animal is not valid.');
  const created = animals.create(body);
  context.status = 201;
  context.set('Location', `/v1/pets/${created.id}`);
  context.body = created;
});
router.get('/v1/pets', (context) => {
  const page = pageOf(context.query);
  if (page === undefined) context.throw(400, 'The query is not valid.');
  const { pets, link } = animals.list(page);
  if (link) context.set('Link', link);
  context.body = pets;
});
router.get('/v1/pets/:petId', (context) => {
  const found = animals.find(context.params.petId);
  if (found === undefined) context.status = 404;
  if (!animals.isBare) context.set(animals.deprecation);
  context.body = found ?? { message: 'There is no such animal.' };
});
app.use(router.routes());

const server = app.listen(0, '127.0.0.1', () => animals.isListening(server.address().port));
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
