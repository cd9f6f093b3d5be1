import { JSON_TYPE, type HttpAnswer } from '../http-message.js';
import type { Readiness } from './readiness.js';
import type { Route } from './route.js';

/** `/livez`: the process answers. `/readyz`: it wants requests; it asks the store, which liveness must not. */
export const healthRoutes = (readiness: Readiness): Route[] => [
  healthRoute('/livez', async () => answer('{"live":true}')),
  healthRoute('/readyz', async () => {
    await readiness.check();
    return answer('{"ready":true}');
  }),
];

const healthRoute = (path: string, health: () => Promise<HttpAnswer>): Route => ({
  path,
  open: true,
  endpoints: new Map([['GET', { alwaysServed: true, answer: health }]]),
  headers: {},
});

const answer = (body: string): HttpAnswer => ({
  status: 200,
  headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'private, no-cache' },
  body,
});
