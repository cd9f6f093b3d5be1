import { conditional } from '../answer/conditional.js';
import { JSON_TYPE } from '../http-message.js';
import type { HttpSettings } from '../http-settings.js';
import { openApiDocument } from '../open-api/open-api-document.js';
import type { Route } from './route.js';

/** `/openapi.json`: the document of the interface, for whoever asks. Made once. */
export function documentRoutes(settings: HttpSettings): Route[] {
  const answer = {
    status: 200,
    headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'private, no-cache' },
    body: openApiDocument(settings),
  };
  return [
    {
      path: '/openapi.json',
      open: true,
      endpoints: new Map([['GET', { answer: ({ request }) => conditional(request, answer) }]]),
      headers: {},
    },
  ];
}
