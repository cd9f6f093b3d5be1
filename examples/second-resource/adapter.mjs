// Serves the categories in the service: ADAPTERS=./adapter.mjs npx animal-store serve
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { categoriesApp, memoryCategories } from './categories.mjs';

export const adapter = new ContainerModule(({ onActivation }) => {
  // Wraps the listener, whichever transport it is of.
  onActivation(TOKENS.requestListener, async (context, animals) => {
    const http = await context.getAsync(TOKENS.httpInterface);
    const path = `${http.settings.basePath}/categories`;
    const categories = categoriesApp(http, path, memoryCategories('Dogs', 'Cats')).callback();
    return (request, response) =>
      request.url.startsWith(path) ? categories(request, response) : animals(request, response);
  });
});
