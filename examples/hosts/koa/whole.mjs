// The animal store as a Koa application of its own: operations, health checks, document, and an error for any other path.
import { createKoaApp } from 'animal-store/koa';

export const listen = (http, { port = 0 } = {}) => createKoaApp(http).listen(port, '127.0.0.1');
