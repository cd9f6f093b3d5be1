// The whole service in your own program, with its own log and a message for each new animal. It reads the environment
// variables of docs/operations/settings.md. Set API_KEYS, or issue a key first: `npx animal-store keys issue`.
import { once } from 'node:events';
import { stringifyJson } from 'animal-store';
import {
  ContainerModule,
  TOKENS,
  createContainer,
  createLogger,
  readSettings,
  startService,
} from 'animal-store/bootstrap';

const settings = readSettings(process.env);
const own = new ContainerModule(({ bind, onActivation }) => {
  bind(TOKENS.logger).toConstantValue(createLogger(settings, process.stderr));
  onActivation(TOKENS.animalStore, (_context, animals) => ({
    ...animals,
    async createPet(pet, options) {
      const created = await animals.createPet(pet, options);
      if (!created.replayed) console.log(`new ${stringifyJson(created.pet)}`);
      return created;
    },
  }));
});
const container = await createContainer(settings, [own]); // loads ADAPTERS, too

const service = await startService(container);
console.log(service.url);
await once(process, 'SIGTERM');
process.exitCode = (await service.stop()) ? 0 : 1;
