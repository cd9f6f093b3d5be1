import { join } from 'node:path';
import { openSqliteStore, type SqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { animalStoreContract } from '../../contract/animal-store-contract.js';
import { apiKeyRepositoryContract } from '../../contract/api-key-repository-contract.js';
import { bindContract } from '../../contract/bind-contract.js';
import { catalogueTransferContract } from '../../contract/catalogue-transfer-contract.js';
import { deprecatedCallRepositoryContract } from '../../contract/deprecated-call-repository-contract.js';
import { petRepositoryContract } from '../../contract/pet-repository-contract.js';
import { temporaryFolder } from './temporary-store.js';

/** A store in a folder of its own, as often as it is opened; all of it goes with `dispose`. */
async function stores(): Promise<{
  readonly first: SqliteStore;
  readonly open: () => Promise<SqliteStore>;
  readonly dispose: () => Promise<void>;
}> {
  const folder = await temporaryFolder();
  const opened: SqliteStore[] = [];
  const open = async (): Promise<SqliteStore> => {
    const store = await openSqliteStore(join(folder.path, 'animals.db'));
    opened.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of opened) await store.close();
    await folder.remove();
  };
  return { first: await open(), open, dispose };
}

describe('SqlitePetRepository', () => {
  bindContract(petRepositoryContract, async () => {
    const { first, open, dispose } = await stores();
    const reopen = async () => {
      await first.close();
      return (await open()).pets;
    };
    return { pets: first.pets, reopen, another: async () => (await open()).pets, dispose };
  });
});

describe('SqliteApiKeyRepository', () => {
  bindContract(apiKeyRepositoryContract, async () => {
    const { first, open, dispose } = await stores();
    const reopen = async () => {
      await first.close();
      return (await open()).apiKeys;
    };
    return { keys: first.apiKeys, reopen, another: async () => (await open()).apiKeys, dispose };
  });
});

describe('SqliteDeprecatedCallRepository', () => {
  bindContract(deprecatedCallRepositoryContract, async () => {
    const { first, open, dispose } = await stores();
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

const handles = ({ transfer, pets, apiKeys: keys }: SqliteStore) => ({ transfer, pets, keys });

describe('SqliteCatalogueTransfer', () => {
  bindContract(catalogueTransferContract, async () => {
    const { first, open, dispose } = await stores();
    const reopen = async () => {
      await first.close();
      return handles(await open());
    };
    return { ...handles(first), reopen, another: async () => handles(await open()), dispose };
  });
});

describe('createAnimalStore on SqlitePetRepository', () => {
  bindContract(animalStoreContract, async () => {
    const { first, dispose } = await stores();
    return { store: createAnimalStore({ pets: first.pets }), dispose };
  });
});
