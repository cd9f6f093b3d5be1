import { after, describe, it } from 'node:test';
import { bindContract, httpContract, listenerSubjects } from 'animal-store/contract';
import { fastifyListener } from './fastify-transport.mjs';

describe('Fastify', () => {
  bindContract(httpContract, listenerSubjects(fastifyListener), { describe, it, after });
});
