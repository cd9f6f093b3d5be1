import { describe, it } from 'node:test';
import { httpTests } from 'animal-store/contract';
import { HttpInterface } from 'animal-store/http';
import { NodeServer } from 'animal-store/node';
import { fastifyListener } from './fastify-transport.mjs';

async function open(options) {
  const server = new NodeServer(await fastifyListener(new HttpInterface(options)));
  const port = await server.listen(0, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}`, close: () => server.close(100) };
}

describe('Fastify', () => httpTests({ describe, it, open }));
