import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import { HttpInterface } from '../../src/adapters/http/index.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import type { ExperimentalAnimalStore } from '../../src/application/animal-store.js';
import type { Authenticator } from '../../src/application/ports/authenticator.js';
import { createAnimalStore } from '../../src/application/create-animal-store.js';
import { openAuthenticator } from '../adapters/api-keys/open-authenticator.js';
import {
  animalStoreTests,
  authenticatorTests,
  httpTests,
  type HttpService,
} from '../contract/index.js';
import { catches, type Broken, type BrokenAdapters } from './catches.js';

const BROKEN_AUTHENTICATORS: BrokenAdapters<Broken<Authenticator>> = {
  'refuses credentials that are nearly valid, ids of keys, and any other text': {
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

describe('The suite of Authenticator', () =>
  catches(BROKEN_AUTHENTICATORS, (runner, broken) => {
    const open = async () => {
      const opened = await openAuthenticator();
      const authenticator = {
        authenticate: opened.authenticator.authenticate.bind(opened.authenticator),
      };
      return { ...opened, authenticator: { ...authenticator, ...broken?.(authenticator) } };
    };
    authenticatorTests({ ...runner, open });
  }));

const BROKEN_ANIMAL_STORES: BrokenAdapters<Broken<ExperimentalAnimalStore>> = {
  'refuses every invalid parameter of a list, and names it': {
    'a limit that is cut to 100': (animalStore) => ({
      listPets: ({ limit = 20, ...query } = {}) =>
        animalStore.listPets({ ...query, limit: limit > 100 ? 100 : limit }),
    }),
  },
  'creates an animal exactly, under an id of its own, by default available, without unknown fields':
    {
      'pending as the default status': (animalStore) => ({
        createPet: (pet, options) => animalStore.createPet({ status: 'pending', ...pet }, options),
      }),
    },
  'does nothing to an animal with another status than `from`': {
    'a `from` that is ignored': (animalStore) => ({
      changePet: (id, change) => animalStore.changePet(id, change),
    }),
  },
};

describe('The suite of AnimalStore', () =>
  catches(BROKEN_ANIMAL_STORES, (runner, broken) => {
    const open = async () => {
      const memory = openMemoryStore();
      const animalStore = createAnimalStore(memory);
      return { animalStore: { ...animalStore, ...broken?.(animalStore) }, close: memory.close };
    };
    animalStoreTests({ ...runner, open });
  }));

const BROKEN_TRANSPORTS: BrokenAdapters<Broken<Required<HttpService>>> = {
  // The title of that row.
  'GET "/v1/pets/999"': {
    'a transport that drops the bodies of errors': ({ fetch }) => ({
      async fetch(request) {
        const { status, headers } = await fetch(request);
        headers.set('Content-Length', '0');
        return new Response('', { status, headers });
      },
    }),
  },
};

describe('The suite of the HTTP interface', () =>
  catches(BROKEN_TRANSPORTS, (runner, broken) => {
    httpTests({
      ...runner,
      open: async (options) => {
        const fetch = createFetchHandler(new HttpInterface(options));
        const service = { url: 'http://animals.test', fetch, close: async () => {} };
        return { ...service, ...broken?.(service) };
      },
    });
  }));
