import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { ExperimentalAnimalStore } from '../../src/application/animal-store.js';
import type { Authenticator } from '../../src/application/ports/authenticator.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { openAuthenticator } from '../adapters/api-keys/open-authenticator.js';
import { animalStoreTests, authenticatorTests } from '../contract/index.js';
import { catches, type Fault, type Faults } from './faults.js';

const OF_AUTHENTICATORS: Faults<Fault<Authenticator>> = {
  'refuses what is nearly a valid credential, the id of its key, and any other text': {
    'a credential that is trimmed': (authenticator) => ({
      authenticate: (credential, options) => authenticator.authenticate(credential.trim(), options),
    }),
  },
  'rejects with the reason of an aborted signal, even if it knows the result': {
    'an authenticator that ignores aborts': (authenticator) => ({
      authenticate: (credential) => authenticator.authenticate(credential),
    }),
  },
  'rejects with service_unavailable without its store, and hides the credential': {
    'an unreachable store that is reported as an unknown key': (authenticator) => ({
      authenticate: (...given) =>
        authenticator
          .authenticate(...given)
          .catch(() => ({ ok: false, reason: 'unknown' }) as const),
    }),
  },
};

describe('The suite of authenticators', () =>
  catches(OF_AUTHENTICATORS, (runner, broken) => {
    const open = async () => {
      const opened = await openAuthenticator();
      const authenticator = {
        authenticate: opened.authenticator.authenticate.bind(opened.authenticator),
      };
      return { ...opened, authenticator: { ...authenticator, ...broken?.(authenticator) } };
    };
    authenticatorTests({ ...runner, open });
  }));

const OF_ANIMAL_STORES: Faults<Fault<ExperimentalAnimalStore>> = {
  'refuses every invalid parameter of a list, and names it': {
    'a limit that is cut to 100': (animalStore) => ({
      listPets: ({ limit = 20, ...query } = {}) =>
        animalStore.listPets({ ...query, limit: limit > 100 ? 100 : limit }),
    }),
  },
  'creates an animal exactly, under an id of its own, by default available, without unknown fields':
    {
      'pending by default': (animalStore) => ({
        createPet: (pet, options) => animalStore.createPet({ status: 'pending', ...pet }, options),
      }),
    },
  'does nothing to an animal with another status than `from`': {
    'a status that is ignored': (animalStore) => ({
      changePet: (id, change) => animalStore.changePet(id, change),
    }),
  },
};

describe('The suite of the use cases', () =>
  catches(OF_ANIMAL_STORES, (runner, broken) => {
    const open = async () => {
      const memory = openMemoryStore();
      const animalStore = createAnimalStore(memory);
      return { animalStore: { ...animalStore, ...broken?.(animalStore) }, close: memory.close };
    };
    animalStoreTests({ ...runner, open });
  }));
