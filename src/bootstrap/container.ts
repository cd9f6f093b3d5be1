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
import { STORE_FACTORIES, factoryFor, openStore } from './stores.js';
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

/** The use cases on the store that the settings name. */
const application = new ContainerModule((options) => {
  add(options, TOKENS.clock, systemClock);
  for (const factory of STORE_FACTORIES) add(options, TOKENS.storeFactory, factory);
  add(options, TOKENS.openOptions, {});
  add(
    options,
    TOKENS.store,
    [TOKENS.settings, every(TOKENS.storeFactory), TOKENS.openOptions],
    ({ storeUrl }, factories, open) => openStore('STORE_URL', storeUrl, factories, open),
  );
  add(options, TOKENS.petRepository, [TOKENS.store], ({ pets }) => pets);
  add(options, TOKENS.apiKeyRepository, [TOKENS.store], ({ apiKeys }) => apiKeys);
  add(options, TOKENS.animalStore, [TOKENS.petRepository, TOKENS.clock], (pets, clock) =>
    createAnimalStore({ pets, clock }),
  );
});

/** The HTTP interface, guarded by API keys, on Koa. */
const service = new ContainerModule((options) => {
  add(options, TOKENS.httpLog, silentLog);
  add(options, TOKENS.onDeprecatedCall, () => {});
  add(
    options,
    TOKENS.authenticator,
    [TOKENS.settings, TOKENS.apiKeyRepository, TOKENS.clock],
    ({ staticKeys }, apiKeys, clock) => new ApiKeyAuthenticator({ staticKeys, apiKeys, clock }),
  );
  add(options, TOKENS.readiness, [TOKENS.petRepository], (pets) => new Readiness((call) => pets.check(call)));
  const t = TOKENS;
  add(
    options,
    TOKENS.httpInterface,
    [t.animalStore, t.authenticator, t.readiness, t.settings, t.httpLog, t.onDeprecatedCall],
    async (animalStore, authenticator, readiness, { http: settings }, log, onDeprecatedCall) => {
      const docs = await readDocsFiles();
      return new HttpInterface({ animalStore, authenticator, readiness, settings, log, docs, onDeprecatedCall });
    },
  );
  add(options, TOKENS.requestListener, [TOKENS.httpInterface], (http) => {
    const handle = createKoaApp(http).callback();
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
  await container.loadAsync(application, service, ...modules);
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
  const { adapters, faults: notLoaded } = await loadAdapters(settings.adapters);
  const container = await createContainer(settings, [...modules, ...adapters]);
  const factories = await container.getAllAsync(TOKENS.storeFactory);
  const ofStore = await factoryFor('STORE_URL', settings.storeUrl, factories).then(
    () => [],
    (error: unknown) => {
      if (error instanceof SettingsError) return error.faults;
      throw error;
    },
  );
  const all = [...faults, ...notLoaded, ...ofStore];
  if (all.length > 0) throw new SettingsError(all);
  return container;
}
