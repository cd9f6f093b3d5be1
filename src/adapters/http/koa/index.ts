/**
 * The HTTP interface on Koa: a router to mount in your application, or a whole application, and the check of API keys
 * for routes of your own.
 *
 * @packageDocumentation
 */
export { animalStoreRouter, createKoaApp, type AnimalStoreState } from './animal-store-router.js';
export { requireApiKey } from './require-api-key.js';
