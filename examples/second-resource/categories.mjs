// A second resource: a port for categories, an adapter that keeps them in memory, and a router.
import { Router } from '@koa/router';
import { parseInt64 } from 'animal-store';

/**
 * The port. A `signal` that is aborted ends a call.
 * @typedef {{ readonly id: bigint, readonly name: string }} Category
 * @typedef {{ readonly signal?: AbortSignal }} CallOptions
 * @typedef {object} CategoryRepository
 * @property {(call?: CallOptions) => Promise<readonly Category[]>} list in ascending order of id
 * @property {(id: bigint, call?: CallOptions) => Promise<Category | undefined>} findById
 */

/** @returns {CategoryRepository} */
export function memoryCategories(...names) {
  const categories = names.map((name, index) => ({ id: BigInt(index + 1), name }));
  return {
    list: async () => categories,
    findById: async (wanted) => categories.find(({ id }) => id === wanted),
  };
}

/** @param {CategoryRepository} categories */
export function categoriesRouter(categories) {
  const router = new Router({ strict: true, sensitive: true });
  router.get('listCategories', '/v1/categories', async (context) => {
    const { signal } = context.state; // set behind the API keys, as are principal and operation
    context.body = await categories.list({ signal });
  });
  router.get('getCategory', '/v1/categories/:id', async (context) => {
    const { signal } = context.state;
    const id = parseInt64(context.params.id);
    const category = id === undefined ? undefined : await categories.findById(id, { signal });
    if (!category) context.throw(404, 'No category has this id.', { code: 'category_not_found' });
    context.body = category; // bigints are written exactly
  });
  return router;
}
