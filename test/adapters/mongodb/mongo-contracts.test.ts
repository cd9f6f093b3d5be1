import { openMongoStore, type MongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { animalStoreContract } from '../../contract/animal-store-contract.js';
import { apiKeyRepositoryContract } from '../../contract/api-key-repository-contract.js';
import { bindContract, globalsOfRunner } from '../../contract/bind-contract.js';
import { catalogueTransferContract } from '../../contract/catalogue-transfer-contract.js';
import { deprecatedCallRepositoryContract } from '../../contract/deprecated-call-repository-contract.js';
import type { Contract, Open, Subject } from '../../contract/contract.js';
import { petRepositoryContract } from '../../contract/pet-repository-contract.js';
import { describeOnMongo, dropDatabase, newDatabaseName, uriOf, type MongoServer } from './mongo-server.js';

/**
 * Servers of tests, that of CI above all, are not what one would keep animals in: one that reads a whole
 * collection for every page takes minutes to walk through ten thousand.
 */
const bind = <S extends Subject>(contract: Contract<S>, open: Open<S>): void =>
  bindContract(contract, open, globalsOfRunner(), { animals: 1500, timeLimit: 180_000 });

/** A store in a database of its own, as often as it is opened; all of it goes with `dispose`. */
async function stores(server: MongoServer): Promise<{
  readonly first: MongoStore;
  readonly open: () => Promise<MongoStore>;
  readonly dispose: () => Promise<void>;
}> {
  const database = newDatabaseName();
  const opened: MongoStore[] = [];
  const open = async (): Promise<MongoStore> => {
    // The promises are about what is kept, not about time: hundreds of adds at once are much for a busy machine.
    const store = await openMongoStore(uriOf(server, database), { timeout: 60_000 });
    opened.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of opened) await store.close();
    await dropDatabase(server, database);
  };
  return { first: await open(), open, dispose };
}

describeOnMongo('MongoPetRepository', (server) => {
  bind(petRepositoryContract, async () => {
    const { first, open, dispose } = await stores(server);
    const reopen = async () => {
      await first.close();
      return (await open()).pets;
    };
    return { pets: first.pets, reopen, another: async () => (await open()).pets, dispose };
  });
});

describeOnMongo('MongoApiKeyRepository', (server) => {
  bind(apiKeyRepositoryContract, async () => {
    const { first, open, dispose } = await stores(server);
    const reopen = async () => {
      await first.close();
      return (await open()).apiKeys;
    };
    return { keys: first.apiKeys, reopen, another: async () => (await open()).apiKeys, dispose };
  });
});

describeOnMongo('MongoDeprecatedCallRepository', (server) => {
  bind(deprecatedCallRepositoryContract, async () => {
    const { first, open, dispose } = await stores(server);
    const reopen = async () => {
      await first.close();
      return (await open()).deprecatedCalls;
    };
    return {
      counts: first.deprecatedCalls,
      reopen,
      another: async () => (await open()).deprecatedCalls,
      dispose,
    };
  });
});

const handles = ({ transfer, pets, apiKeys: keys }: MongoStore) => ({ transfer, pets, keys });

describeOnMongo('MongoCatalogueTransfer', (server) => {
  bind(catalogueTransferContract, async () => {
    const { first, open, dispose } = await stores(server);
    const reopen = async () => {
      await first.close();
      return handles(await open());
    };
    return { ...handles(first), reopen, another: async () => handles(await open()), dispose };
  });
});

describeOnMongo('createAnimalStore on MongoPetRepository', (server) => {
  bind(animalStoreContract, async () => {
    const { first, dispose } = await stores(server);
    return { store: createAnimalStore({ pets: first.pets }), dispose };
  });
});
