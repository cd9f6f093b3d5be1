import { assert } from './assert.js';
import type { ApiKeyRepository } from '../../src/application/ports/api-key-repository.js';
import type { CatalogueTransfer } from '../../src/application/ports/catalogue-transfer.js';
import type { DeprecatedCallRepository } from '../../src/application/ports/deprecated-call-repository.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { animalStoreContract } from './animal-store-contract.js';
import { apiKeyRepositoryContract } from './api-key-repository-contract.js';
import { catalogueTransferContract, type CatalogueHandles } from './catalogue-transfer-contract.js';
import type { Capability, Contract, Subject } from './contract.js';
import { deprecatedCallRepositoryContract } from './deprecated-call-repository-contract.js';
import type { MoreHandles } from './handles.js';
import { petRepositoryContract } from './pet-repository-contract.js';

/** The adapters of one store: what a store factory opens is one. */
export interface StoreHandles {
  /** The animals: all that a store has to keep. */
  readonly pets: PetRepository;
  /** Left out by stores that keep no API keys. */
  readonly apiKeys?: ApiKeyRepository | undefined;
  /** Left out by stores that keep no counts of deprecated calls. */
  readonly deprecatedCalls?: DeprecatedCallRepository | undefined;
  /** Left out by stores that cannot be copied. It copies the API keys as well, so a store that has it keeps some. */
  readonly transfer?: CatalogueTransfer | undefined;
}

/** An empty store with all that it has to offer, to hold to the contracts of all its ports. */
export interface StoreSubject extends Subject, StoreHandles, MoreHandles<StoreHandles> {}

/** A contract of a part of a store, for whole stores. Where the part is not offered, no case is owed: `part` says why. */
function ofStores<S extends Subject>(
  { port, cases }: Contract<S>,
  part: (store: StoreSubject) => S | string,
): Contract<StoreSubject> {
  const offered = (store: StoreSubject): S => {
    const subject = part(store);
    assert.ok(typeof subject === 'object', subject as string);
    return subject;
  };
  const needed = ({ name, isDeclared, canBeTried }: Capability<S>): Capability<StoreSubject> => ({
    name,
    isDeclared: (store) => isDeclared(offered(store)),
    canBeTried: (store) => canBeTried(offered(store)),
  });
  return {
    port,
    cases: cases.map(({ needs, unless, run, ...rest }) => ({
      ...rest,
      ...(needs && { needs: needed(needs) }),
      unless(store) {
        const subject = part(store);
        return typeof subject === 'string' ? subject : unless?.(subject);
      },
      run: (store, context) => run(offered(store), context),
    })),
  };
}

/** The further handles of a part of a store. */
function further<Handle>(
  { reopen, another }: StoreSubject,
  part: (store: StoreHandles) => Handle | undefined,
): MoreHandles<Handle> {
  const of =
    (open: () => Promise<StoreHandles>): (() => Promise<Handle>) =>
    async () => {
      const handle = part(await open());
      assert.ok(handle, 'a store that is opened again has to offer what it offered before');
      return handle;
    };
  return { reopen: reopen && of(reopen), another: another && of(another) };
}

function catalogueOf({ transfer, pets, apiKeys: keys }: StoreHandles): CatalogueHandles | undefined {
  return transfer && keys && { transfer, pets, keys };
}

/**
 * The contracts of a store, all its ports together: what one opening of a store has to keep. For a port that a
 * store does not offer every case is skipped. The last is that of the use cases, on the store.
 */
export const storeContracts: readonly Contract<StoreSubject>[] = [
  ofStores(petRepositoryContract, (store) => ({
    pets: store.pets,
    ...further(store, ({ pets }) => pets),
    dispose: store.dispose,
  })),
  ofStores(apiKeyRepositoryContract, (store) =>
    store.apiKeys
      ? {
          keys: store.apiKeys,
          capabilities: store.pets.capabilities,
          ...further(store, ({ apiKeys }) => apiKeys),
          dispose: store.dispose,
        }
      : 'the store keeps no API keys',
  ),
  ofStores(deprecatedCallRepositoryContract, (store) =>
    store.deprecatedCalls
      ? {
          counts: store.deprecatedCalls,
          capabilities: store.pets.capabilities,
          ...further(store, ({ deprecatedCalls }) => deprecatedCalls),
          dispose: store.dispose,
        }
      : 'the store keeps no counts of deprecated calls',
  ),
  ofStores(catalogueTransferContract, (store) => {
    const catalogue = catalogueOf(store);
    return catalogue
      ? { ...catalogue, ...further(store, catalogueOf), dispose: store.dispose }
      : 'the store cannot be copied';
  }),
  ofStores(animalStoreContract, ({ pets, dispose }) => ({ store: createAnimalStore({ pets }), dispose })),
];
