/**
 * The HTTP interface carried by Koa: as an application, or as a middleware for one.
 *
 * @packageDocumentation
 */
export { animalStore, createKoaApp } from './koa-transport.js';
