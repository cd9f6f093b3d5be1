// The service in a program of your own. Its settings are the environment variables of docs/operations/settings.md; what
// it logs, and what happens with a new animal, is up to you.
import { once } from 'node:events';
import { stringifyJson } from 'animal-store';
import {
  TOKENS,
  createContainer,
  createLogger,
  readSettings,
  startService,
} from 'animal-store/bootstrap';

const own = ({ replaceFrom, decorate }) => {
  replaceFrom(TOKENS.logger, (context) =>
    createLogger(context.get(TOKENS.settings), process.stderr),
  );
  decorate(TOKENS.animalStore, (animals) => ({
    ...animals,
    async createPet(pet, options) {
      const created = await animals.createPet(pet, options);
      if (!created.replayed) console.log(`new ${stringifyJson(created.pet)}`);
      return created;
    },
  }));
};
const container = await createContainer(readSettings(process.env), [own]); // loads ADAPTERS, too

const service = await startService(container);
console.log(service.url);
const { staticKeys } = container.get(TOKENS.settings);
const keys = await container.getAsync(TOKENS.managedApiKeys); // undefined if the store keeps no keys
const first = staticKeys.length === 0 ? await keys?.issueFirst('first start') : undefined;
if (first) console.log(`key ${first.key}`); // without a key, every request gets 401
await once(process, 'SIGTERM');
process.exitCode = (await service.stop()) ? 0 : 1;
