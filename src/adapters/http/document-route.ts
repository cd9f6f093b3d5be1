import { respondConditionally } from './entity-tag.js';
import { JSON_TYPE, REVALIDATED } from './http-message.js';
import type { HttpSettings } from './http-settings.js';
import { openRoute, type Route } from './routes.js';

/** `/openapi.json`: the OpenAPI document, made at the first request for it, because TypeBox takes long to load. */
export function documentRoute(settings: HttpSettings): Route {
  const headers = { 'Content-Type': JSON_TYPE, ...REVALIDATED };
  let body: string | undefined;
  return openRoute('/openapi.json', {
    async handle({ request }) {
      const { openApiDocument } = await import('./open-api/open-api-document.js');
      body ??= openApiDocument(settings);
      return respondConditionally(request, { status: 200, headers, body });
    },
  });
}
