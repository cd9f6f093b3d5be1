import { rejects } from 'node:assert/strict';
import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import {
  ContainerModule,
  TOKENS,
  createContainer,
  openStore,
  readSettings,
  startService,
} from '../../src/bootstrap/index.js';
import type { AnimalStore, Authenticator, Clock } from '../../src/index.js';
import { removeFolders, temporaryFolder } from '../temporary-folder.js';
import { Shelf } from './shelf.js';

const SETTINGS = readSettings({ PORT: '0', STORE_URL: 'memory:' });

/** Adds to the location of the store. */
const named = (name: string): ContainerModule =>
  new ContainerModule(({ onActivation }) => {
    onActivation(TOKENS.store, (_context, store) => ({
      ...store,
      location: `${store.location} ${name}`,
    }));
  });

describe('The container', () => {
  afterEach(removeFolders);

  it('runs the service inside another program, with parts of that program', async () => {
    const anybody: Authenticator = {
      authenticate: async () => ({
        ok: true,
        principal: { keyId: 'anybody', scopes: new Set(['pets:read']) },
      }),
    };
    const own = new ContainerModule(({ rebind }) => {
      rebind(TOKENS.authenticator).toConstantValue(anybody);
    });
    const shelf = new Shelf();
    const settings = { ...SETTINGS, storeUrl: 'shelf:1', basePath: '/animals/v1' };
    {
      await using service = await startService(
        await createContainer(settings, [own, shelf.module]),
      );
      expect(service.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/animals\/v1$/);
      expect((await fetch(service.docsUrl)).status).to.equal(200);
      const response = await fetch(`${service.url}/pets`, {
        headers: { Authorization: 'Bearer x' },
      });
      expect(await response.text()).to.equal('[]');
    }
    expect(shelf.closed).to.equal(1);
  });

  it('lets a later module decorate or replace the parts of an earlier one', async () => {
    const shelf = new Shelf();
    const settings = { ...SETTINGS, storeUrl: 'SHELF:1' };
    const container = await createContainer(
      settings,
      [new Shelf().module, shelf.module, named('a'), named('b')],
      'read',
    );

    expect(await container.getAsync(TOKENS.store)).to.include({ location: 'shelf 1 a b' });
    expect(shelf.modes).to.deep.equal(['read']);
  });

  it('loads the modules of ADAPTERS last; relative paths start at the working directory', async () => {
    const folder = temporaryFolder(process.cwd());
    const inversify = import.meta.resolve('inversify');
    writeFileSync(
      `${folder}/late.mjs`,
      `import { ContainerModule } from '${inversify}';
      export const adapter = new ContainerModule(({ rebind }) => {
        rebind(Symbol.for('animal-store.clock')).toConstantValue({ now: () => new Date(1) });
      });`,
    );
    const early = new ContainerModule(({ rebind }) => {
      rebind(TOKENS.clock).toConstantValue({ now: () => new Date(0) });
    });
    const relative = `./${folder.slice(process.cwd().length + 1)}/late.mjs`;
    for (const adapter of [relative, `${folder}/late.mjs`]) {
      const container = await createContainer({ ...SETTINGS, adapters: [adapter] }, [early]);
      expect(container.get(TOKENS.clock).now()).to.deep.equal(new Date(1));
    }
  });

  it('says which of ADAPTERS cannot be loaded, and why', async () => {
    const folder = temporaryFolder();
    const broken = { 'empty.mjs': '', 'faulty.mjs': 'throw new Error("oops");' };
    for (const [name, text] of Object.entries(broken)) writeFileSync(`${folder}/${name}`, text);
    for (const [adapter, reason] of [
      [`${folder}/empty.mjs`, 'exports no adapter, a ContainerModule of Inversify'],
      [`${folder}/faulty.mjs`, 'oops'],
      ['no-such-package', 'Cannot find package'],
    ])
      await rejects(createContainer({ ...SETTINGS, adapters: [String(adapter)] }), {
        isPermanent: true,
        message: new RegExp(`ADAPTERS ${adapter} cannot be loaded: .*${reason}`),
      });
  });

  it('closes the store of a service that cannot listen', async () => {
    const shelf = new Shelf();
    const settings = { ...SETTINGS, storeUrl: 'shelf:1', host: '192.0.2.1' };

    await rejects(startService(await createContainer(settings, [shelf.module])), {
      code: 'EADDRNOTAVAIL',
    });
    expect(shelf.closed).to.equal(1);
  });

  it('has typed tokens: a part in the wrong place does not compile', () => {
    const clock: Clock = { now: () => new Date() };
    const module = new ContainerModule(({ bind, onActivation }) => {
      bind(TOKENS.clock).toConstantValue(clock);
      // @ts-expect-error a clock is no authenticator
      bind(TOKENS.authenticator).toConstantValue(clock);
      bind(TOKENS.animalStore).toResolvedValue(
        (animals: AnimalStore, _clock: Clock) => animals,
        // @ts-expect-error the tokens are swapped
        [TOKENS.clock, TOKENS.animalStore],
      );
      // @ts-expect-error a store has no method now
      onActivation(TOKENS.store, (_context, store) => store.now());
    });
    expect(module.load).to.be.a('function');
  });

  it('opens the store of a URL without a service', async () => {
    const store = await openStore('memory:');
    expect(await store.pets.list({ limit: 1 })).to.deep.equal([]);
    await store.close();
    await rejects(openStore('nope:'), { isPermanent: true, message: /memory:, sqlite:, mongodb:/ });
  });
});
