/**
 * The HTTP interface on Koa: a router to mount in your application, or a whole application, and routers of your own
 * behind the same API keys.
 *
 * @packageDocumentation
 */
export { animalStoreRouter, createKoaApp } from './animal-store-router.js';
export { behindApiKeys } from './behind-api-keys.js';
export type { AnimalStoreState } from './koa-request.js';
