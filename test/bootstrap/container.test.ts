import { rejects } from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ContainerModule, type Container } from 'inversify';
import { MemoryDeprecatedCallRepository } from '../../src/adapters/memory/memory-deprecated-call-repository.js';
import { MemoryPetRepository } from '../../src/adapters/memory/memory-pet-repository.js';
import { SqlitePetRepository } from '../../src/adapters/sqlite/sqlite-pet-repository.js';
import type { HttpRequest } from '../../src/adapters/http/http-message.js';
import { SCOPES, type Authenticator } from '../../src/application/ports/authenticator.js';
import type { DeprecatedCallRepository } from '../../src/application/ports/deprecated-call-repository.js';
import { createContainer } from '../../src/bootstrap/container.js';
import { provideValue } from '../../src/bootstrap/provide.js';
import { SettingsError, readSettings } from '../../src/bootstrap/settings.js';
import type { StoreFactory } from '../../src/bootstrap/store-factory.js';
import { TOKENS, type Token } from '../../src/bootstrap/tokens.js';

const BELLA = { name: 'Bella', categoryId: 1n };

/** A module that adds a store factory, as an adapter's does. */
const factory = (value: StoreFactory): ContainerModule =>
  new ContainerModule((options) => provideValue(options, TOKENS.storeFactory, value));

/** A module that puts `value` in the place of what is bound, as an adapter's may. */
const replacement = <T>(token: Token<T>, value: T): ContainerModule =>
  new ContainerModule(({ rebind }) => provideValue({ bind: rebind }, token, value));

/** A store of its own each time, which keeps no API keys, and counts how often it was opened. */
function countedStore(): { readonly opened: string[]; readonly open: StoreFactory['open'] } {
  const opened: string[] = [];
  const open: StoreFactory['open'] = async (url) => {
    opened.push(url);
    const pets = new MemoryPetRepository();
    return { pets, location: `nowhere ${opened.length}`, close: () => pets.close() };
  };
  return { opened, open };
}

const listPets: HttpRequest = {
  method: 'GET',
  path: '/v1/pets',
  query: '',
  header: (name) => (name === 'authorization' ? 'Bearer key-of-the-test' : undefined),
  isRepeated: () => false,
  announcesBody: false,
  hasBody: async () => false,
  readBody: async () => new Uint8Array(),
  onGone: () => {},
};

/** The status of a list with a key. */
async function statusOfList(of: Container): Promise<number> {
  const http = await of.getAsync(TOKENS.httpInterface);
  return (await http.answer(listPets, http.routes[0], {})).status;
}

describe('The container', () => {
  const containers: Container[] = [];
  async function container(
    environment: Record<string, string>,
    ...adapters: readonly ContainerModule[]
  ): Promise<Container> {
    const made = await createContainer(readSettings(environment), adapters);
    containers.push(made);
    return made;
  }
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'animal-store-container-'));
  });
  afterEach(async () => {
    for (const made of containers.splice(0)) {
      const store = await made.getAsync(TOKENS.store).catch(() => undefined);
      await store?.close();
    }
    rmSync(folder, { recursive: true });
  });

  describe('chooses the store by one setting:', () => {
    it('memory:', async () => {
      const pets = await (await container({ STORE_URL: 'memory:' })).getAsync(TOKENS.petRepository);
      expect(pets).to.be.instanceOf(MemoryPetRepository);
    });

    it('sqlite:, all behind the colon being a path', async () => {
      const file = join(folder, 'a b?c=d', 'pets.db');
      const made = await container({ STORE_URL: `sqlite:${file}` });
      expect(await made.getAsync(TOKENS.petRepository)).to.be.instanceOf(SqlitePetRepository);
      expect((await made.getAsync(TOKENS.store)).location).to.equal(file);
      expect(existsSync(file)).to.equal(true);
    });

    it('the scheme that an adapter brings, which gets the whole URL', async () => {
      const shelf = countedStore();
      const adapter = factory({ scheme: 'shelf', open: shelf.open });
      const made = await container({ STORE_URL: 'shelf://third/from:left' }, adapter);
      expect((await made.getAsync(TOKENS.store)).location).to.equal('nowhere 1');
      expect(shelf.opened).to.deep.equal(['shelf://third/from:left']);
    });

    it('any of several schemes of one adapter', async () => {
      const shelf = countedStore();
      const adapter = factory({ scheme: ['shelf', 'shelf+tls'], open: shelf.open });
      await (await container({ STORE_URL: 'shelf+tls:x' }, adapter)).getAsync(TOKENS.store);
      expect(shelf.opened).to.deep.equal(['shelf+tls:x']);
    });

    it('of two with the same scheme the one bound last, so that an adapter can take the place of ours', async () => {
      const [first, second] = [countedStore(), countedStore()];
      const adapters = [first, second].map(({ open }) => factory({ scheme: 'memory', open }));
      await (await container({ STORE_URL: 'memory:' }, ...adapters)).getAsync(TOKENS.petRepository);
      expect([first.opened, second.opened]).to.deep.equal([[], ['memory:']]);
    });

    it('and names the schemes that there are when the one set is none of them', async () => {
      const adapter = factory({ scheme: ['shelf', 'shelf+tls'], open: countedStore().open });
      const made = await container({ STORE_URL: 'mongo://me:secret@host' }, adapter);
      await rejects(made.getAsync(TOKENS.animalStore), (error: unknown) => {
        expect(error).to.be.instanceOf(SettingsError);
        expect(error).to.have.deep.property('faults', [
          'STORE_URL has the scheme mongo:, and known are memory, sqlite, mongodb, mongodb+srv, shelf, shelf+tls',
        ]);
        return true;
      });
    });

    it('and says when the URL fits no store of the scheme', async () => {
      const memory = await container({ STORE_URL: 'memory:a' });
      await rejects(
        memory.getAsync(TOKENS.store),
        new SettingsError(['STORE_URL must be memory: alone, for it has no name']),
      );
      const sqlite = await container({ STORE_URL: 'sqlite:' });
      await rejects(
        sqlite.getAsync(TOKENS.store),
        new SettingsError(['STORE_URL names no file, as sqlite:data/animal-store.db does']),
      );
      const neither = await container({ STORE_URL: 'sqlite::memory:' });
      await rejects(
        neither.getAsync(TOKENS.store),
        new SettingsError(['STORE_URL for a store in memory is memory:']),
      );
    });
  });

  it('opens nothing before it is asked for', async () => {
    const file = join(folder, 'pets.db');
    const made = await container({ STORE_URL: `sqlite:${file}` });
    expect(existsSync(file)).to.equal(false);
    await made.getAsync(TOKENS.petRepository);
    expect(existsSync(file)).to.equal(true);
  });

  it('opens one store, however many ask for it at once', async () => {
    const shelf = countedStore();
    const made = await container({ STORE_URL: 'shelf:' }, factory({ scheme: 'shelf', open: shelf.open }));
    await Promise.all([
      made.getAsync(TOKENS.requestListener),
      made.getAsync(TOKENS.animalStore),
      made.getAsync(TOKENS.store),
    ]);
    expect(shelf.opened).to.have.length(1);
  });

  it('gives the use cases and the repository the same animals', async () => {
    const made = await container({ STORE_URL: 'memory:' });
    const { pet } = await (await made.getAsync(TOKENS.animalStore)).createPet(BELLA);
    expect(await (await made.getAsync(TOKENS.petRepository)).findById(pet.id)).to.deep.equal(pet);
  });

  it('serves with static keys on a store that keeps none', async () => {
    const adapter = factory({ scheme: 'shelf', open: countedStore().open });
    const good = await container({ STORE_URL: 'shelf:', API_KEYS: 'key-of-the-test' }, adapter);
    expect(await good.getAsync(TOKENS.apiKeyRepository)).to.equal(undefined);
    expect(await statusOfList(good)).to.equal(200);
    expect(await statusOfList(await container({ STORE_URL: 'shelf:' }, adapter))).to.equal(401);
  });

  describe('lets an adapter put its own in the place of', () => {
    it('the repository of the animals', async () => {
      const pets = new MemoryPetRepository();
      await pets.add({ ...BELLA, status: 'sold' });
      const made = await container({ STORE_URL: 'memory:' }, replacement(TOKENS.petRepository, pets));
      const page = await (await made.getAsync(TOKENS.animalStore)).listPets();
      expect(page.pets.map(({ status }) => status)).to.deep.equal(['sold']);
    });

    it('the authenticator', async () => {
      const asked: string[] = [];
      const anyone: Authenticator = {
        async authenticate(credential) {
          asked.push(credential);
          return { ok: true, principal: { keyId: 'anyone', scopes: new Set(SCOPES) } };
        },
      };
      const made = await container({ STORE_URL: 'memory:' }, replacement(TOKENS.authenticator, anyone));
      expect(await statusOfList(made)).to.equal(200);
      expect(asked).to.deep.equal(['key-of-the-test']);
    });

    it('the clock', async () => {
      let now = new Date('2026-11-20T10:00:00Z');
      const made = await container({ STORE_URL: 'memory:' }, replacement(TOKENS.clock, { now: () => now }));
      const store = await made.getAsync(TOKENS.animalStore);
      const request = { scope: 'shop', token: 'once' };
      const create = async (): Promise<boolean> => (await store.createPet(BELLA, { request })).replayed;
      expect([await create(), await create()]).to.deep.equal([false, true]);
      now = new Date('2026-11-21T10:00:00Z');
      expect(await create()).to.equal(false);
    });

    it('the store of counts of deprecated calls, and their log', async () => {
      const counts = new MemoryDeprecatedCallRepository();
      const first: string[] = [];
      const made = await container(
        { STORE_URL: 'memory:', API_KEYS: 'key-of-the-test' },
        replacement<DeprecatedCallRepository | undefined>(TOKENS.deprecatedCallRepository, counts),
        replacement(TOKENS.deprecatedCallLog, {
          firstOfDay: ({ operationId }) => void first.push(operationId),
          notWritten: () => {},
          lost: () => {},
        }),
      );
      const http = await made.getAsync(TOKENS.httpInterface);
      const route = http.routes.find(({ path }) => path.endsWith('{petId}'));
      await http.answer({ ...listPets, path: '/v1/pets/1' }, route, { petId: '1' });
      await (await made.getAsync(TOKENS.deprecatedCallCounter)).write();
      expect((await counts.list()).map(({ calls }) => calls)).to.deep.equal([1]);
      expect(first).to.deep.equal(['getPet']);
    });

    it('the log of the answers', async () => {
      const statuses: number[] = [];
      const made = await container(
        { STORE_URL: 'memory:' },
        replacement(TOKENS.httpLog, {
          answered: ({ status }) => void statuses.push(status),
          failed: () => {},
        }),
      );
      await statusOfList(made);
      expect(statuses).to.deep.equal([401]);
    });
  });
});
