import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ManagedApiKeys, apiKeyGenerator } from '../../src/adapters/api-keys/index.js';
import { AnimalStoreClient } from '../../src/adapters/http/client/index.js';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.js';
import { AdmissionControl } from '../../src/adapters/http/node/index.js';
import { openMemoryStore } from '../../src/adapters/memory/index.js';
import { openMongoStore } from '../../src/adapters/mongodb/index.js';
import { openSqliteStore } from '../../src/adapters/sqlite/index.js';
import { openStore } from '../../src/bootstrap/index.js';
import { InvalidParameterError, createAnimalStore, importPets } from '../../src/index.js';
import { httpInterface } from '../adapters/http/fixtures.js';
import type { HttpInterfaceOptions } from '../../src/adapters/http/index.js';
import { rejectionOf } from '../contract/rejection.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';

const bella = { name: 'Bella', categoryId: 7 };
const idempotencyKey = { scope: 'till-3', key: 'receipt-4711' };
const client = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'a-key' };
const { signal } = new AbortController();

/** As a program without a compiler calls it. */
type Untyped = (...given: unknown[]) => unknown;

/** Functions of the package on one store in memory. */
function functions() {
  const { pets, changes, apiKeys } = openMemoryStore();
  const store = createAnimalStore({ pets, changes });
  const keys = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() });
  const calls: Readonly<Record<string, Untyped>> = {
    ...(store as object),
    issue: keys.issue.bind(keys) as Untyped,
    revoke: keys.revoke.bind(keys) as Untyped,
    importPets: importPets as Untyped,
    openSqliteStore: openSqliteStore as Untyped,
    openMongoStore: openMongoStore as Untyped,
    openStore: openStore as Untyped,
    http: (options) => httpInterface(options as HttpInterfaceOptions),
    createFetchHandler: createFetchHandler as Untyped,
    AdmissionControl: (options) => new AdmissionControl(options as { maxInFlight: number }),
    allPets: (query) => new AnimalStoreClient(client).allPets(query as object).next(),
    client: (options) => new AnimalStoreClient(options as typeof client),
  };
  return { calls, store, pets, keys };
}

describe('Options and values of them that do not exist', () => {
  const path = join(temporaryFolder(), 'animals.db');
  const nowhere = 'mongodb://127.0.0.1:1/db';
  const rows = (async function* () {})();
  after(removeFolders);

  for (const [name, given, message] of [
    [
      'listPets',
      [{ state: 'sold' }],
      'Options must be an object with limit, status, after, or empty',
    ],
    ['listPets', ['sold'], 'Options must be an object with limit, status, after'],
    ['listPets', [new URLSearchParams('status=sold')], 'Options must be an object with limit'],
    ['listPets', [{}, signal], 'Options must be an object with signal'],
    ['getPet', [1n, { timeout: 5 }], 'Options must be an object with signal, or empty'],
    [
      'createPet',
      [bella, { request: idempotencyKey }],
      'Options must be an object with signal, idempotencyKey, or empty',
    ],
    ['createPet', [bella, idempotencyKey], 'Options must be an object with signal, idempotencyKey'],
    [
      'createPet',
      [bella, { signal, idempotencykey: idempotencyKey }],
      'There is no option idempotencykey here, but idempotencyKey',
    ],
    [
      'createPet',
      [bella, { signal, 'Idempotency-Key': 'a-key' }],
      'There is no option Idempotency-Key here, but idempotencyKey',
    ],
    ['listPets', [{ limit: 5, Status: 'sold' }], 'There is no option Status here, but status'],
    ['removePet', [1n, { signal, From: 'sold' }], 'There is no option From here, but from'],
    ['allPets', [{ limit: 5, Status: 'sold' }], 'There is no option Status here, but status'],
    ['allPets', [signal], 'Options must be an object with limit, status, after'],
    ['createPet', [bella, 'a-key'], 'Options must be an object with signal, idempotencyKey'],
    [
      'changePet',
      [1n, { status: 'sold' }, { if: 'pending' }],
      'Options must be an object with signal, from',
    ],
    ['removePet', [1n, 'sold'], 'Options must be an object with signal, from'],
    [
      'issue',
      [{ name: 'till', scope: ['pets:read'] }],
      'There is no option scope here, only name, scopes, expiresAt',
    ],
    [
      'issue',
      [{ name: 'till', expires: new Date() }],
      'There is no option expires here, only name, scopes, expiresAt',
    ],
    ['revoke', ['an id', { delay: 5 }], 'There is no option delay here, only signal, after'],
    [
      'importPets',
      [rows, { reject() {}, dryrun: true }],
      'There is no option dryrun here, only ids, source, clock, dryRun',
    ],
    [
      'openSqliteStore',
      [path, { readOnly: true }],
      'There is no option readOnly here, only mode, onNotice',
    ],
    ['openSqliteStore', [path, 'read'], 'Options must be an object with mode, onNotice'],
    [
      'openSqliteStore',
      [path, { mode: 'readonly' }],
      'mode must be one of create, existing, read, snapshot',
    ],
    [
      'openStore',
      [`sqlite:${path}`, { mode: 'READ' }],
      'mode must be one of create, existing, read, snapshot',
    ],
    [
      'openMongoStore',
      [nowhere, { timeoutMs: 500 }],
      'There is no option timeoutMs here, only mode, onNotice, timeout',
    ],
    [
      'openMongoStore',
      [nowhere, { timeout: Infinity }],
      'timeout must be an integer from 1 to 2147483647',
    ],
    ['http', [{ rateLimit: 5 }], 'There is no option rateLimit here, only animalStore,'],
    [
      'http',
      [{ settings: { corsOrigins: 'https://a.example' } }],
      'The setting corsOrigins must be of the type Array, not String',
    ],
    [
      'http',
      [{ settings: { bodyLimit: '64kb' } }],
      'The setting bodyLimit must be of the type Number, not String',
    ],
    [
      'http',
      [{ settings: { requestDeadline: Number.NaN } }],
      'The setting requestDeadline must be of the type Number, not NaN',
    ],
    [
      'http',
      [{ settings: { getPet: false } }],
      'The setting getPet must be of the type String, not Boolean',
    ],
    ['createFetchHandler', [{}, '/shop'], 'Options must be an object with mount'],
    ['createFetchHandler', [{}, { prefix: '/shop' }], 'There is no option prefix here, only mount'],
    [
      'AdmissionControl',
      [{ maxInFlight: Number.NaN }],
      'maxInFlight must be an integer from 0 to 2147483647',
    ],
    [
      'client',
      [{ ...client, timeout: 500 }],
      'There is no option timeout here, only baseUrl, apiKey, fetch, callDeadline, retries',
    ],
  ] as const)
    it(`are refused by ${name}, and nothing is done: ${message}`, async () => {
      const { calls, store, pets, keys } = functions();
      await store.createPet(bella);

      const error = await rejectionOf(
        Promise.resolve(given).then((each) => calls[name]?.(...each)),
      );

      expect(error).to.be.instanceOf(TypeError).with.property('message').that.includes(message);
      expect(existsSync(path), 'the file of a store').to.equal(false);
      expect(await pets.list({ limit: 9 })).to.have.lengthOf(1);
      expect(await keys.list()).to.deep.equal([]);
    });

  it('may stand beside the signal of a context that is passed on', async () => {
    const { store } = functions();
    const context = { signal, queryKey: ['animals'] };

    const { pet } = await store.createPet(bella, context);

    expect(await store.getPet(pet.id, context)).to.deep.equal(pet);
    expect((await store.listPets({ limit: 5 }, new AbortController())).pets).to.deep.equal([pet]);
  });

  it('are refused as a parameter if they were one of a page: a loop over pages would not end', async () => {
    const { store } = functions();
    const query = { limit: 5, cursor: 'MTA' };

    const error = await rejectionOf(store.listPets(query));

    expect(error).to.be.instanceOf(InvalidParameterError);
    expect(error).to.have.property('message').that.includes('cursor was removed: use after');
  });
});
