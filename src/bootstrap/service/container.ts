import { Container } from 'inversify';
import { hash } from 'node:crypto';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { apiKeyGenerator } from '../../adapters/api-keys/api-key.js';
import { AdmissionControl } from '../../adapters/http/node/admission-control.js';
import { Readiness } from '../../adapters/http/health.js';
import { createAnimalStore } from '../../application/create-animal-store.js';
import { ManagedApiKeys } from '../../application/manage-api-keys.js';
import { systemClock } from '../../application/ports/clock.js';
import { load, loadAdapters } from './load-adapters.js';
import { httpLogTo } from './logger.js';
import { memoryRateLimiter } from './memory-rate-limiter.js';
import { SettingsError, parseSettings, type Environment, type Settings } from './settings.js';
import { STORE_FACTORIES, factoryFor, openStore } from './stores.js';
import { TOKENS, every, wiring, type Adapter } from './wiring.js';

/** The use cases on the store that the settings name. */
const application: Adapter = ({ add, addFrom, TOKENS: t }) => {
  for (const factory of STORE_FACTORIES) add(t.storeFactory, factory);
  add(t.clock, systemClock);
  add(t.logger, undefined);
  addFrom(t.openOptions, [t.logger], (logger) =>
    logger ? { onNotice: (line, level = 'warn') => logger[level](`store: ${line}`) } : {},
  );
  addFrom(
    t.store,
    [t.settings, every(t.storeFactory), t.openOptions],
    ({ storeUrl }, factories, how) => openStore(storeUrl, { ...how, factories, name: 'STORE_URL' }),
  );
  addFrom(t.petRepository, [t.store], ({ pets }) => pets);
  addFrom(t.petChanges, [t.settings, t.store], ({ experimental }, { changes }) => {
    if (experimental.length > 0 && changes === undefined)
      throw new SettingsError([
        'EXPERIMENTAL must be empty: the store of STORE_URL cannot change animals',
      ]);
    return changes;
  });
  addFrom(t.animalStore, [t.petRepository, t.petChanges, t.clock], (pets, changes, clock) =>
    createAnimalStore({ pets, changes, clock, sha256: (text) => hash('sha256', text) }),
  );
};

/** Static keys of the settings, managed keys of the store. */
const apiKeyAuthentication: Adapter = ({ addFrom, TOKENS: t }) => {
  addFrom(t.apiKeyRepository, [t.store], ({ apiKeys }) => apiKeys);
  addFrom(
    t.managedApiKeys,
    [t.settings, t.apiKeyRepository, t.clock],
    (settings, apiKeys, clock) => {
      const generate = apiKeyGenerator(settings.keyEnvironment);
      return apiKeys && new ManagedApiKeys({ apiKeys, generate, clock });
    },
  );
  addFrom(
    t.authenticator,
    [t.settings, t.apiKeyRepository, t.clock],
    (settings, apiKeys, clock) =>
      new ApiKeyAuthenticator({ staticKeys: settings.staticKeys, apiKeys, clock }),
  );
};

/** The HTTP interface, on Koa. Loaded when it is first needed: most commands do not need it. */
const http: Adapter = ({ addFrom, TOKENS: t }) => {
  addFrom(t.httpLog, [t.logger, t.clock], (logger, clock) =>
    logger ? httpLogTo(logger, clock) : { responded: () => {} },
  );
  addFrom(
    t.rateLimiter,
    [t.settings],
    ({ rateLimit }) => rateLimit && memoryRateLimiter(rateLimit),
  );
  addFrom(t.readiness, [t.store], (store) => new Readiness((call) => store.check(call)));
  addFrom(t.admission, [t.settings], ({ maxInFlight }) => new AdmissionControl({ maxInFlight }));
  addFrom(t.docs, [], async () =>
    (await import('../../adapters/http/node/docs-files.js')).readDocsFiles(),
  );
  addFrom(
    t.httpInterface,
    [
      t.animalStore,
      t.authenticator,
      t.readiness,
      t.settings,
      t.httpLog,
      t.rateLimiter,
      t.admission,
      t.docs,
    ],
    async (animalStore, authenticator, readiness, settings, log, rateLimiter, admission, docs) => {
      const { HttpInterface } = await import('../../adapters/http/http-interface.js');
      const { clientAddressBehind } = await import('./client-address.js');
      const { trustedProxies: trusted } = settings;
      const clientAddress = trusted.length > 0 ? clientAddressBehind(trusted) : undefined;
      return new HttpInterface({
        animalStore,
        authenticator,
        readiness,
        settings,
        log,
        rateLimiter,
        admission,
        docs,
        clientAddress,
      });
    },
  );
  addFrom(t.requestListener, [t.httpInterface], async (httpInterface) => {
    const { createKoaApp } = await import('../../adapters/http/koa/animal-store-router.js');
    const handle = createKoaApp(httpInterface).callback();
    return (request, response) => void handle(request, response);
  });
};

/**
 * Wires the service, then loads the adapters given and those of `ADAPTERS`.
 * Nothing is opened before it is needed. Only stores have resources to close.
 * @throws {SettingsError} naming every adapter of `ADAPTERS` that cannot be loaded.
 */
export async function createContainer(
  settings: Settings,
  adapters: readonly Adapter[] = [],
): Promise<Container> {
  const { container, faults } = await wire(settings, adapters);
  if (faults.length > 0) throw new SettingsError(faults);
  if (settings.storeUrl === 'memory:' && settings.staticKeys.length === 0)
    wiring(container).decorate(TOKENS.authenticator, async (authenticator, context) => {
      const logger = await context.getAsync(TOKENS.logger);
      logger?.warn('without API_KEYS, the only API keys are those that this process issues');
      return authenticator;
    });
  return container;
}

/** `faults` has a line for each adapter of `ADAPTERS` that cannot be loaded. */
async function wire(settings: Settings, adapters: readonly Adapter[]) {
  const container = new Container();
  wiring(container).add(TOKENS.settings, settings);
  for (const adapter of [application, apiKeyAuthentication, http, ...adapters])
    await load(container, adapter);
  return { container, faults: await loadAdapters(settings.adapters, container) };
}

/**
 * Wires the service by its environment, with the adapters given and those that `ADAPTERS` names. Opens nothing.
 * @param used the names of the settings that must be valid. Default: all.
 * @throws {SettingsError} naming every invalid setting and every adapter that cannot be loaded.
 */
export async function configure(
  environment: Environment,
  adapters: readonly Adapter[] = [],
  used?: readonly string[],
): Promise<Container> {
  const { settings, faults } = parseSettings(environment, used);
  const wired = await wire(settings, adapters);
  const { container } = wired;
  faults.push(...wired.faults);
  if (used?.includes('STORE_URL') ?? true) {
    const factory = await factoryFor(
      settings.storeUrl,
      await container.getAllAsync(TOKENS.storeFactory),
    );
    if (typeof factory === 'string') faults.push(`STORE_URL ${factory}`);
    else if (used === undefined && settings.reusePort === 'on' && !factory.isShared)
      faults.push('REUSE_PORT must be off: processes cannot share the store of STORE_URL');
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return container;
}
