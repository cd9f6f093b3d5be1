// A second resource: a port for categories, an adapter that keeps them in memory, and a router behind the API keys.
import { Router } from '@koa/router';
import { parseInt64, stringifyJson } from 'animal-store';
import { requireApiKey } from 'animal-store/koa';
import Koa from 'koa';

/**
 * The port.
 * @typedef {{ readonly id: bigint, readonly name: string }} Category
 * @typedef {object} CategoryRepository
 * @property {() => Promise<readonly Category[]>} list in ascending order of id
 * @property {(id: bigint) => Promise<Category | undefined>} findById
 */

/** @returns {CategoryRepository} */
export function memoryCategories(...names) {
  const categories = names.map((name, index) => ({ id: BigInt(index + 1), name }));
  return {
    list: async () => categories,
    findById: async (wanted) => categories.find(({ id }) => id === wanted),
  };
}

/**
 * A Koa application that serves the categories at `path`. Its error responses are Koa's own.
 * @param {CategoryRepository} categories
 */
export function categoriesApp(http, path, categories) {
  const router = new Router({ strict: true, sensitive: true });
  const reading = requireApiKey(http, 'pets:read');
  router.get(path, reading, async (context) => {
    respond(context, await categories.list());
  });
  router.get(`${path}/:id`, reading, async (context) => {
    const id = parseInt64(context.params.id);
    const category = id === undefined ? undefined : await categories.findById(id);
    if (!category) context.throw(404, 'No category has this id.');
    respond(context, category);
  });
  return new Koa().use(router.routes());
}

function respond(context, value) {
  context.type = 'json';
  context.body = stringifyJson(value); // bigints are written exactly
}
