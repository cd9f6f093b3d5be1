// Serves the categories in the service: ADAPTERS=./adapter.mjs animal-store serve
import { createKoaApp } from 'animal-store/koa';
import { categoriesRouter, memoryCategories } from './categories.mjs';

export const adapter = ({ replaceFrom, TOKENS }) => {
  const categories = categoriesRouter(memoryCategories('Dogs', 'Cats'));
  replaceFrom(TOKENS.requestListener, async (context) => {
    const http = await context.getAsync(TOKENS.httpInterface);
    return createKoaApp(http, categories).callback();
  });
};
