// Serves the categories in the service: ADAPTERS=./adapter.mjs npx animal-store serve
import { ContainerModule, TOKENS } from 'animal-store/bootstrap';
import { categoriesApp, memoryCategories } from './categories.mjs';

export const adapter = new ContainerModule(({ onActivation }) => {
  // Wraps the listener, whichever transport it is of.
  onActivation(TOKENS.requestListener, async (context, animals) => {
    const http = await context.getAsync(TOKENS.httpInterface);
    const path = `${http.settings.basePath}/categories`;
    const categories = categoriesApp(http, path, memoryCategories('Dogs', 'Cats')).callback();
    /** Whether a request is for the path or below it: `/v1/categoriesX` is neither. */
    const isForCategories = ({ url }) => `${url.split('?')[0]}/`.startsWith(`${path}/`);
    return (request, response) =>
      (isForCategories(request) ? categories : animals)(request, response);
  });
});
