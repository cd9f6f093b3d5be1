/**
 * The HTTP interface on Koa: a router to mount in your application, or a whole application.
 *
 * @packageDocumentation
 */
export { animalStoreRouter, createKoaApp, type AnimalStoreState } from './animal-store-router.js';
