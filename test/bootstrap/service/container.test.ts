import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Container } from 'inversify';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.js';
import { memoryStoreFactory, openMemoryStore } from '../../../src/adapters/memory/index.js';
import { DEFAULT_HTTP_SETTINGS } from '../../../src/adapters/http/http-settings.js';
import { StoreFileError } from '../../../src/adapters/sqlite/index.js';
import type { StoreFactory } from '../../../src/application/ports/store.js';
import { openStore } from '../../../src/bootstrap/service/stores.js';
import { createContainer } from '../../../src/bootstrap/service/container.js';
import { SettingsError, readSettings } from '../../../src/bootstrap/service/settings.js';
import { rejectionOf } from '../../contract/rejection.js';
import { removeFolders, temporaryFolder } from '../../temporary-folder.js';
import { Shelf, factory } from '../test-io.js';
import { TOKENS, type Adapter } from '../../../src/bootstrap/service/wiring.js';

/** The status of a request with a key. */
async function statusOf(container: Container): Promise<number> {
  const handle = createFetchHandler(await container.getAsync(TOKENS.httpInterface));
  const headers = { Authorization: 'Bearer key-of-the-test' };
  return (await handle(new Request('http://localhost/v1/pets', { headers }))).status;
}

const TWO_SLASHES =
  'must not begin with sqlite://: write sqlite:x.db for a file in the working directory, sqlite:/x.db for one in the root';

const container = (environment: Record<string, string>, ...modules: readonly Adapter[]) =>
  createContainer(readSettings(environment), modules);

describe('The container', () => {
  afterEach(removeFolders);

  describe('chooses the store by STORE_URL:', () => {
    it('sqlite:, followed by a path, which it opens when it is first needed', async () => {
      const folder = realpathSync(temporaryFolder());
      const file = join(folder, 'a b%20?c=d', 'pets.db');
      const made = await container({ STORE_URL: `sqlite:${file}` });

      expect(existsSync(file), `${file} exists`).to.equal(false);

      const store = await made.getAsync(TOKENS.store);
      expect([store.location, existsSync(file)]).to.deep.equal([file, true]);

      await store.close();
    });

    it('a scheme of an adapter, which gets the whole URL', async () => {
      const urls: string[] = [];
      const shelf = factory('shelf', async (url) => {
        urls.push(url);
        return openMemoryStore();
      });
      await (
        await container({ STORE_URL: 'shelf://third/from:left' }, shelf)
      ).getAsync(TOKENS.animalStore);

      expect(urls).to.deep.equal(['shelf://third/from:left']);
    });

    it('of two adapters with the same scheme the last one', async () => {
      const first = new Shelf({}, 'memory');
      const second = new Shelf({}, 'memory');
      const made = await container({ STORE_URL: 'memory:' }, first.module, second.module);
      await made.getAsync(TOKENS.petRepository);

      expect([first.opened.length, second.opened.length]).to.deep.equal([0, 1]);
    });
  });

  describe('openStore', () => {
    it('opens the store at a URL as STORE_URL does, and passes on how', async () => {
      const file = join(realpathSync(temporaryFolder()), 'pets.db');
      for (const [url, location] of [
        [`sqlite:${file}`, file],
        ['memory:', 'memory, lost when the service stops'],
      ] as const) {
        const store = await openStore(url);
        expect(store.location).to.equal(location);
        await store.close();
      }
      const missing = openStore(`sqlite:${file}.none`, { mode: 'existing' });

      expect(await rejectionOf(missing)).to.be.instanceOf(StoreFileError);
    });

    it('chooses the last factory of a scheme, and tells it nothing else', async () => {
      const opened: unknown[] = [];
      const shelf = (name: string): StoreFactory => ({
        scheme: ['shelf', 'board'],
        async open(...given) {
          opened.push([name, ...given]);
          return openMemoryStore();
        },
      });
      const factories = [memoryStoreFactory, shelf('first'), shelf('last')];
      await openStore('board:x', { factories, name: '--to', mode: 'read' });

      expect(opened).to.deep.equal([['last', 'board:x', { mode: 'read' }]]);
    });

    it('refuses a URL that is not valid, by the name given', async () => {
      const rule =
        'must start with the scheme of a store: memory:, sqlite:, mongodb:, mongodb+srv:';
      for (const [url, fault] of [
        ['toString:', rule],
        ['', rule],
        ['sqlite://x.db', TWO_SLASHES],
        ['memory:x', 'must be memory: alone'],
      ] as const) {
        expect(await rejectionOf(openStore(url)), url)
          .to.be.instanceOf(SettingsError)
          .with.property('message', `URL ${fault}`);
        expect(await rejectionOf(openStore(url, { name: '--to' })), url).to.have.property(
          'message',
          `--to ${fault}`,
        );
      }
    });

    it('refuses a path of SQLite that does not name a file of its own', async () => {
      for (const path of [
        '',
        ':memory:',
        '~/a.db',
        '$HOME/a.db',
        'file:a.db',
        'a.db?mode=ro',
        'a.db\r', // from a file with Windows lines
        ' a.db',
        '"a.db"',
        "'a.db'",
        'a.db-wal',
        'a.db-shm',
        'a.db-journal',
      ])
        expect(await rejectionOf(openStore(`sqlite:${path}`)), path)
          .to.be.instanceOf(SettingsError)
          .with.property('message')
          .that.matches(/^URL must name a file, such as /);
    });
  });

  it('loads the adapters of ADAPTERS, and names those that cannot be loaded', async () => {
    const module =
      "export const adapter = { id: 1, load({ bind }) { bind('own').toConstantValue(7) } };";
    const ADAPTERS = join(temporaryFolder(), 'own.mjs');
    writeFileSync(ADAPTERS, module);

    expect((await container({ ADAPTERS })).get('own'), 'what the adapter bound').to.equal(7);
    expect(await rejectionOf(container({ ADAPTERS: './no.mjs,./none.mjs' })))
      .to.be.instanceOf(SettingsError)
      .with.property('faults')
      .that.has.length(2);
  });

  it('opens one store, however many need it at once', async () => {
    const shelf = new Shelf();
    const made = await container({ STORE_URL: 'shelf:' }, shelf.module);
    const { requestListener, animalStore, store } = TOKENS;
    await Promise.all([
      made.getAsync(requestListener),
      made.getAsync(animalStore),
      made.getAsync(store),
    ]);

    expect(shelf.opened).to.have.length(1);
  });

  it('serves with static keys on a store that keeps none', async () => {
    const shelf = new Shelf({ apiKeys: undefined });
    const settings = { STORE_URL: 'shelf:' };

    expect(
      await statusOf(await container({ ...settings, API_KEYS: 'key-of-the-test' }, shelf.module)),
    ).to.equal(200);
    expect(await statusOf(await container(settings, shelf.module))).to.equal(401);
  });

  it('refuses EXPERIMENTAL on a store whose animals cannot be changed', async () => {
    const shelf = new Shelf({ changes: undefined });
    const settings = { STORE_URL: 'shelf:', API_KEYS: 'key-of-the-test' };

    expect(await statusOf(await container(settings, shelf.module))).to.equal(200);

    const asking = await container({ ...settings, EXPERIMENTAL: 'removePet' }, shelf.module);
    expect(await rejectionOf(asking.getAsync(TOKENS.httpInterface)))
      .to.be.instanceOf(SettingsError)
      .with.property(
        'message',
        'EXPERIMENTAL must be empty: the store of STORE_URL cannot change animals',
      );
  });

  it('tells the HTTP interface its own settings, and no secret', async () => {
    const settings = { STORE_URL: 'memory:', API_KEYS: 'key-of-the-test', BODY_LIMIT: '7b' };
    const http = await (await container(settings)).getAsync(TOKENS.httpInterface);

    expect(http.settings).to.include({ bodyLimit: 7 });
    expect(Object.keys(http.settings)).to.have.members(Object.keys(DEFAULT_HTTP_SETTINGS));
  });
});
