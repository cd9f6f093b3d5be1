// Serves the categories in the service: ADAPTERS=./adapter.mjs animal-store serve
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { createKoaApp } from 'animal-store/koa';
import { categoriesApp, memoryCategories } from './categories.mjs';

export const adapter = new ContainerModule(({ rebind }) => {
  rebind(TOKENS.requestListener).toResolvedValue(
    (http) => {
      const animals = createKoaApp(http).callback();
      const categories = categoriesApp(http, memoryCategories('Dogs', 'Cats')).callback();
      return (request, response) =>
        /^\/v1\/categories(?:[/?]|$)/.test(request.url)
          ? categories(request, response)
          : animals(request, response);
    },
    [TOKENS.httpInterface],
  );
});
