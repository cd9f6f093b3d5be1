import { createFetchHandler } from '../../../src/adapters/http/fetch/index.js';
import { HttpInterface } from '../../../src/adapters/http/index.js';
import { createKoaApp } from '../../../src/adapters/http/koa/index.js';
import { NodeServer } from '../../../src/adapters/http/node/index.js';
import { httpTests } from '../../contract/index.js';
import { heldToDocument } from './open-api/held-to-document.js';

describe('The HTTP interface on Fetch', () =>
  httpTests({
    describe,
    it,
    layers: ['interface', 'transport'],
    open: async (options) => ({
      url: 'http://animals.test',
      fetch: heldToDocument(createFetchHandler(new HttpInterface(options)), options.settings),
      close: async () => {},
    }),
  }));

describe('The HTTP interface on Koa', () =>
  httpTests({
    describe,
    it,
    layers: ['transport', 'socket'],
    async open(options) {
      const server = new NodeServer(createKoaApp(new HttpInterface(options)).callback());
      const port = await server.listen(0, '127.0.0.1');
      return { url: `http://127.0.0.1:${port}`, close: () => server.close(50) };
    },
  }));
