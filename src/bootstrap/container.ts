import { Container, ContainerModule } from 'inversify';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { ApiKeyAuthenticator } from '../adapters/api-keys/api-key-authenticator.js';
import { HttpInterface, type DeprecatedCall } from '../adapters/http/http-interface.js';
import { silentLog, type HttpLog } from '../adapters/http/http-log.js';
import { createKoaApp } from '../adapters/http/koa/animal-store-router.js';
import { readDocsFiles } from '../adapters/http/node/docs-files.js';
import { Readiness } from '../adapters/http/health.js';
import { createAnimalStore } from '../application/create-animal-store.js';
import { systemClock } from '../application/ports/clock.js';
import type * as core from '../index.js';
import { loadAdapters } from './load-adapters.js';
import { SettingsError, judgeSettings, type Environment, type Settings } from './settings.js';
import { STORE_FACTORIES, factoryFor } from './stores.js';
import { add, every, token } from './wiring.js';

/** Everything that is bound, and can be replaced or decorated. */
export const TOKENS = {
  settings: token<Settings>('Settings'),
  clock: token<core.Clock>('Clock'),
  /** There may be several: `STORE_URL` chooses by scheme. */
  storeFactory: token<core.StoreFactory>('StoreFactory'),
  /** How the store of `STORE_URL` is opened. */
  openOptions: token<core.OpenOptions>('OpenOptions'),
  store: token<core.Store>('Store'),
  petRepository: token<core.PetRepository>('PetRepository'),
  /** `undefined` if the store keeps no keys. */
  apiKeyRepository: token<core.ApiKeyRepository | undefined>('ApiKeyRepository'),
  animalStore: token<core.AnimalStore>('AnimalStore'),
  authenticator: token<core.Authenticator>('Authenticator'),
  readiness: token<Readiness>('Readiness'),
  /** Bound by `serve` only. */
  logger: token<Logger>('Logger'),
  httpLog: token<HttpLog>('HttpLog'),
  onDeprecatedCall: token<(call: DeprecatedCall) => void>('OnDeprecatedCall'),
  httpInterface: token<HttpInterface>('HttpInterface'),
  /** The transport. */
  requestListener: token<RequestListener>('RequestListener'),
} as const;

const storeModule = (factory: core.StoreFactory): ContainerModule =>
  new ContainerModule((options) => add(options, TOKENS.storeFactory, factory));

/** The use cases on the store that the settings name. */
const application = new ContainerModule((options) => {
  const { settings, storeFactory, openOptions, store, petRepository, clock } = TOKENS;
  add(options, clock, systemClock);
  add(options, openOptions, {});
  add(options, store, [settings, every(storeFactory), openOptions], async ({ storeUrl }, factories, open) =>
    (await factoryFor('STORE_URL', storeUrl, factories)).open(storeUrl, open),
  );
  add(options, petRepository, [store], ({ pets }) => pets);
  add(options, TOKENS.animalStore, [petRepository, clock], (pets, time) =>
    createAnimalStore({ pets, clock: time }),
  );
});

/** Static keys of the settings, managed keys of the store. */
const apiKeyAuthentication = new ContainerModule((options) => {
  const { settings, apiKeyRepository, clock } = TOKENS;
  add(options, apiKeyRepository, [TOKENS.store], ({ apiKeys }) => apiKeys);
  add(options, TOKENS.authenticator, [settings, apiKeyRepository, clock], ({ staticKeys }, apiKeys, time) => {
    return new ApiKeyAuthenticator({ staticKeys, apiKeys, clock: time });
  });
});

/** The HTTP interface, on Koa. */
const http = new ContainerModule((options) => {
  const t = TOKENS;
  add(options, t.httpLog, silentLog);
  add(options, t.onDeprecatedCall, () => {});
  add(options, t.readiness, [t.petRepository], (pets) => new Readiness((call) => pets.check(call)));
  add(
    options,
    t.httpInterface,
    [t.animalStore, t.authenticator, t.readiness, t.settings, t.httpLog, t.onDeprecatedCall],
    async (animalStore, authenticator, readiness, { http: settings }, log, onDeprecatedCall) => {
      const docs = await readDocsFiles();
      return new HttpInterface({
        animalStore,
        authenticator,
        readiness,
        settings,
        log,
        docs,
        onDeprecatedCall,
      });
    },
  );
  add(options, t.requestListener, [t.httpInterface], (httpInterface) => {
    const handle = createKoaApp(httpInterface).callback();
    return (request, response) => void handle(request, response);
  });
});

/**
 * Wires the service, then loads the modules of others, which may `add`, `replace` and `decorate`. Nothing is opened
 * before it is needed. What is opened and closed comes from a store factory; a repository closes with its store.
 */
export async function createContainer(
  settings: Settings,
  modules: readonly ContainerModule[] = [],
): Promise<Container> {
  const container = new Container();
  add(container, TOKENS.settings, settings);
  const stores = STORE_FACTORIES.map(storeModule);
  await container.loadAsync(...stores, application, apiKeyAuthentication, http, ...modules);
  return container;
}

/**
 * Wires the service by its environment, with the modules given and those that `ADAPTERS` names. Opens nothing.
 * @throws {SettingsError} naming every invalid setting and every module that cannot be loaded.
 */
export async function configure(
  environment: Environment,
  modules: readonly ContainerModule[] = [],
): Promise<Container> {
  const { settings, faults } = judgeSettings(environment);
  const loaded = await loadAdapters(settings.adapters);
  faults.push(...loaded.faults);
  const container = await createContainer(settings, [...modules, ...loaded.adapters]);
  try {
    await factoryFor('STORE_URL', settings.storeUrl, await container.getAllAsync(TOKENS.storeFactory));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    faults.push(...error.faults);
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return container;
}

/** Opens another store than that of `STORE_URL`. Parameters and errors are those of `factoryFor` and of its `open`. */
export async function openStore(
  container: Container,
  setting: string,
  url: string,
  options?: core.OpenOptions,
): Promise<core.Store> {
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  return (await factoryFor(setting, url, factories)).open(url, options);
}
