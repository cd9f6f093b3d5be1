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
import { httpInterface } from './http/fixtures.js';
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
  const calls = {
    ...store,
    issue: keys.issue.bind(keys),
    revoke: keys.revoke.bind(keys),
    importPets,
    openSqliteStore,
    openMongoStore,
    openStore,
    createFetchHandler,
    http: httpInterface,
    AdmissionControl: (options: object) => new AdmissionControl(options),
    allPets: (query: object) => new AnimalStoreClient(client).allPets(query).next(),
    client: (options: typeof client) => new AnimalStoreClient(options),
  };
  return { calls: calls as unknown as Record<string, Untyped>, store, pets, keys };
}

describe('Options and values of them that do not exist', () => {
  const path = join(temporaryFolder(), 'animals.db');
  const nowhere = 'mongodb://127.0.0.1:1/db';
  const rows = (async function* () {})();
  after(removeFolders);

  for (const [name, given, unknown, known] of [
    ['listPets', [{ page: 2 }], 'page', 'limit, '],
    ['listPets', [{ limit: 5, After: 1n }], 'After', 'limit, '],
    ['allPets', [{ limit: 5, After: 1n }], 'After', 'limit, '],
    ['getPet', [1n, { timeout: 5 }], 'timeout', 'signal'],
    ['createPet', [bella, { request: idempotencyKey }], 'request', 'signal, idempotencyKey'],
    ['createPet', [bella, idempotencyKey], 'scope', 'signal, idempotencyKey'],
    ['createPet', [bella, { signal, idempotencykey: idempotencyKey }], 'idempotencykey', 'signal'],
    ['createPet', [bella, { signal, 'Idempotency-Key': 'a-key' }], 'Idempotency-Key', 'signal'],
    ['changePet', [1n, { status: 'sold' }, { if: 'pending' }], 'if', 'signal, from'],
    ['removePet', [1n, { signal, From: 'sold' }], 'From', 'signal, from'],
    ['issue', [{ name: 'till', scope: ['pets:read'] }], 'scope', 'name, scopes, expiresAt'],
    ['issue', [{ name: 'till', expires: new Date() }], 'expires', 'name, scopes, expiresAt'],
    ['revoke', ['an id', { delay: 5 }], 'delay', 'signal, after'],
    ['revoke', ['an id', { signal, After: 5 }], 'After', 'signal, after'],
    ['importPets', [rows, { reject() {}, dryrun: true }], 'dryrun', 'ids, source, clock, dryRun'],
    ['openSqliteStore', [path, { readOnly: true }], 'readOnly', 'mode, onNotice'],
    ['openMongoStore', [nowhere, { timeoutMs: 500 }], 'timeoutMs', 'mode, onNotice, timeout'],
    ['http', [{ rateLimit: 5 }], 'rateLimit', 'animalStore,'],
    ['createFetchHandler', [{}, { prefix: '/shop' }], 'prefix', 'mount'],
    ['client', [{ ...client, timeout: 500 }], 'timeout', 'baseUrl, apiKey, fetch, callDeadline'],
  ] as const)
    refuses(name, given, `There is no option ${unknown} here, only ${known}`);

  for (const [name, given, known] of [
    ['listPets', ['sold'], 'limit, '],
    ['listPets', [new URLSearchParams('limit=5')], 'limit, '],
    ['allPets', [signal], 'limit, '],
    ['listPets', [{}, signal], 'signal'],
    ['createPet', [bella, 'a-key'], 'signal, idempotencyKey'],
    ['removePet', [1n, 'sold'], 'signal, from'],
    ['openSqliteStore', [path, 'read'], 'mode, onNotice'],
    ['createFetchHandler', [{}, '/shop'], 'mount'],
  ] as const)
    refuses(name, given, `Options must be an object with ${known}`);

  const modes = 'mode must be one of create, existing, read, snapshot';
  for (const [name, given, message] of [
    ['openSqliteStore', [path, { mode: 'readonly' }], modes],
    ['openStore', [`sqlite:${path}`, { mode: 'READ' }], modes],
    ['openMongoStore', [nowhere, { timeout: Infinity }], 'timeout must be an integer from 1 to'],
    [
      'AdmissionControl',
      [{ maxInFlight: Number.NaN }],
      'maxInFlight must be a number of 0 or more',
    ],
  ] as const)
    refuses(name, given, message);

  for (const [setting, value, types] of [
    ['corsOrigins', 'https://a.example', 'Array, not String'],
    ['bodyLimit', '64kb', 'Number, not String'],
    ['requestDeadline', Number.NaN, 'Number, not NaN'],
    ['getPet', false, 'String, not Boolean'],
  ] as const)
    refuses(
      'http',
      [{ settings: { [setting]: value } }],
      `${setting} must be of the type ${types}`,
    );

  function refuses(name: string, given: readonly unknown[], message: string): void {
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
  }

  it('may stand beside the signal of a context that is passed on, or the parts of a store', async () => {
    const { store, pets, keys } = functions();
    const context = { _signal: signal, queryKey: ['animals'], signal };
    const parts = { pets, connection: {}, reject() {} };

    const { pet } = await store.createPet(bella, context);
    const { pets: listed } = await store.listPets({ limit: 5 }, new AbortController());

    expect(await store.getPet(pet.id, context)).to.deep.equal(pet);
    expect(listed).to.deep.equal([pet]);
    expect(await keys.revoke('an id', context)).to.equal(undefined);
    expect(await importPets(rows, parts)).to.deep.equal({ added: 0, line: 0 });
  });

  it('do not include a part of a millisecond', async () => {
    await using store = await openMongoStore(nowhere, { timeout: 1000 / 3 });

    expect(store.location).to.equal(nowhere);
  });

  it('are refused as a parameter if they were one of a page: a loop over pages would not end', async () => {
    const { store } = functions();
    const query = { limit: 5, cursor: 'MTA' };

    const error = await rejectionOf(store.listPets(query));

    expect(error).to.be.instanceOf(InvalidParameterError);
    expect(error).to.have.property('message').that.includes('cursor was removed: use after');
  });
});
