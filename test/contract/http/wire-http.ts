import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { HttpInterface } from '../../../src/adapters/http/http-interface.js';
import { readDocsFiles } from '../../../src/adapters/http/node/docs-files.js';
import { Readiness } from '../../../src/adapters/http/routes/readiness.js';
import { openMemoryStore } from '../../../src/adapters/memory/open-memory-store.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import { ailingPets } from './ailing-store.js';
import { STATIC_KEYS, issueKeys } from './http-keys.js';
import type { HttpKeys } from './request-row.js';
import { SITUATIONS, type Situation, type SituationSetup } from './situation.js';

/** The HTTP interface in a situation, for a transport to carry. */
export interface WiredHttp {
  /** To be carried by the transport. */
  readonly http: HttpInterface;
  /** The keys that its authenticator accepts or, where their name says so, refuses. */
  readonly keys: HttpKeys;
  /** Resolves when a store that is not well was used for the first time. */
  readonly used: Promise<void>;
}

/** Wires the HTTP interface on a store in memory, with the settings, the keys and the faults of a situation. */
export async function wireHttp(situation: Situation): Promise<WiredHttp> {
  const { settings, store: fault }: SituationSetup = SITUATIONS[situation];
  const { promise: used, resolve: onCall } = Promise.withResolvers<void>();
  const { apiKeys, ...store } = openMemoryStore();
  const pets = fault ? ailingPets(fault, onCall) : store.pets;
  const http = new HttpInterface({
    store: createAnimalStore({ pets }),
    authenticator: new ApiKeyAuthenticator({ staticKeys: Object.values(STATIC_KEYS), apiKeys }),
    readiness: new Readiness((call) => pets.check(call)),
    settings,
    docs: await readDocsFiles(),
  });
  return { http, keys: await issueKeys(apiKeys), used };
}
