// The animals by NestJS on Fastify. Decorators are called as functions: this file is not compiled.
import * as animals from './animals.mjs';
import { OPTIONS, equip } from './fastify-equipment.mjs';

animals.load('reflect-metadata');
const nest = animals.load('@nestjs/common');
const { NestFactory } = animals.load('@nestjs/core');
const { FastifyAdapter } = animals.load('@nestjs/platform-fastify');

class PetsController {
  create(body, reply) {
    if (!animals.isNewPet(body)) throw new nest.BadRequestException('The animal is not valid.');
    const created = animals.create(body);
    reply.header('Location', `/v1/pets/${created.id}`);
    return created;
  }

  list(sent, reply) {
    const query = animals.checkedQuery(sent);
    if (query === undefined) throw new nest.BadRequestException('The query is not valid.');
    const { pets, link } = animals.list(query);
    if (link) reply.header('Link', link);
    return pets;
  }

  find(petId, reply) {
    const found = animals.find(Number(petId));
    if (found === undefined) throw new nest.NotFoundException('There is no such animal.');
    reply.headers(animals.deprecation);
    return found;
  }
}

const prototype = PetsController.prototype;
for (const [name, route, argument] of [
  ['create', nest.Post(), nest.Body()],
  ['list', nest.Get(), nest.Query()],
  ['find', nest.Get(':petId'), nest.Param('petId')],
]) {
  route(prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
  argument(prototype, name, 0);
  nest.Res({ passthrough: true })(prototype, name, 1);
}
nest.Controller('v1/pets')(PetsController);
class PetsModule {}
nest.Module({ controllers: [PetsController] })(PetsModule);

const adapter = new FastifyAdapter(OPTIONS);
equip(adapter.getInstance());
const app = await NestFactory.create(PetsModule, adapter, { logger: false });
process.on('SIGTERM', () => void app.close());
await app.listen(0, '127.0.0.1');
animals.isListening(app.getHttpServer().address().port);
