import { respondConditionally } from '../entity-tag.js';
import { REVALIDATED_JSON } from '../http-message.js';
import type { HttpSettings } from '../http-settings.js';
import { openRoute, type Route } from '../routes.js';

/** `/openapi.json`: the OpenAPI document, made at the first request, because TypeBox is slow to load. */
export function openApiRoute(settings: HttpSettings): Route {
  let body: string | undefined;
  return openRoute('/openapi.json', {
    async handle({ request }) {
      const { openApiDocument } = await import('./open-api-document.js');
      body ??= openApiDocument(settings);
      return respondConditionally(request, { status: 200, headers: REVALIDATED_JSON, body });
    },
  });
}
