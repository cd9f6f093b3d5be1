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
import { TOKENS, wiring, type Adapter } from './wiring.js';

/** The use cases on the store that the settings name. */
const application: Adapter = ({ bind, bindFrom }) => {
  for (const factory of STORE_FACTORIES) bind(TOKENS.storeFactory, factory);
  bind(TOKENS.clock, systemClock);
  bind(TOKENS.logger, undefined);
  bindFrom(TOKENS.openOptions, async (context) => {
    const logger = await context.getAsync(TOKENS.logger);
    if (logger === undefined) return {};
    return { onNotice: (line, level = 'warn') => logger[level](`store: ${line}`) };
  });
  bindFrom(TOKENS.store, async (context) => {
    const { storeUrl } = context.get(TOKENS.settings);
    const openOptions = await context.getAsync(TOKENS.openOptions);
    const factories = await context.getAllAsync(TOKENS.storeFactory);
    return openStore(storeUrl, { ...openOptions, factories, name: 'STORE_URL' });
  });
  bindFrom(TOKENS.petRepository, async (context) => (await context.getAsync(TOKENS.store)).pets);
  bindFrom(TOKENS.petChanges, async (context) => {
    const { experimental } = context.get(TOKENS.settings);
    const { changes } = await context.getAsync(TOKENS.store);
    if (changes !== undefined || experimental.length === 0) return changes;
    const fault = 'EXPERIMENTAL must be empty: the store of STORE_URL cannot change animals';
    throw new SettingsError([fault]);
  });
  bindFrom(TOKENS.animalStore, async (context) =>
    createAnimalStore({
      pets: await context.getAsync(TOKENS.petRepository),
      changes: await context.getAsync(TOKENS.petChanges),
      clock: await context.getAsync(TOKENS.clock),
      sha256: (text) => hash('sha256', text),
    }),
  );
};

/** Static keys of the settings, managed keys of the store. */
const apiKeyAuthentication: Adapter = ({ bindFrom }) => {
  bindFrom(TOKENS.apiKeyRepository, async (context) => {
    const { apiKeys } = await context.getAsync(TOKENS.store);
    return apiKeys;
  });
  bindFrom(TOKENS.managedApiKeys, async (context) => {
    const apiKeys = await context.getAsync(TOKENS.apiKeyRepository);
    const clock = await context.getAsync(TOKENS.clock);
    return apiKeys && new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator(), clock });
  });
  bindFrom(TOKENS.authenticator, async (context) => {
    const { staticKeys } = context.get(TOKENS.settings);
    const apiKeys = await context.getAsync(TOKENS.apiKeyRepository);
    const clock = await context.getAsync(TOKENS.clock);
    return new ApiKeyAuthenticator({ staticKeys, apiKeys, clock });
  });
};

/** The HTTP interface, on Koa. Loaded when it is first needed: most commands do not need it. */
const http: Adapter = ({ bindFrom }) => {
  bindFrom(TOKENS.httpLog, async (context) => {
    const logger = await context.getAsync(TOKENS.logger);
    const clock = await context.getAsync(TOKENS.clock);
    return logger === undefined ? { responded() {} } : httpLogTo(logger, clock);
  });
  bindFrom(TOKENS.rateLimiter, (context) => {
    const { rateLimit } = context.get(TOKENS.settings);
    return rateLimit && memoryRateLimiter(rateLimit);
  });
  bindFrom(TOKENS.readiness, async (context) => {
    const store = await context.getAsync(TOKENS.store);
    return new Readiness((call) => store.check(call));
  });
  bindFrom(TOKENS.admission, (context) => {
    const { maxInFlight } = context.get(TOKENS.settings);
    return new AdmissionControl({ maxInFlight });
  });
  bindFrom(TOKENS.docs, async () => {
    const { readDocsFiles } = await import('../../adapters/http/node/docs-files.js');
    return readDocsFiles();
  });
  bindFrom(TOKENS.httpInterface, async (context) => {
    const { HttpInterface } = await import('../../adapters/http/http-interface.js');
    const { clientAddressBehind } = await import('./client-address.js');
    const settings = context.get(TOKENS.settings);
    const { trustedProxies } = settings;
    const isBehindProxies = trustedProxies.length > 0;
    return new HttpInterface({
      settings,
      animalStore: await context.getAsync(TOKENS.animalStore),
      authenticator: await context.getAsync(TOKENS.authenticator),
      readiness: await context.getAsync(TOKENS.readiness),
      log: await context.getAsync(TOKENS.httpLog),
      rateLimiter: await context.getAsync(TOKENS.rateLimiter),
      admission: await context.getAsync(TOKENS.admission),
      docs: await context.getAsync(TOKENS.docs),
      clientAddress: isBehindProxies ? clientAddressBehind(trustedProxies) : undefined,
    });
  });
  bindFrom(TOKENS.requestListener, async (context) => {
    const { createKoaApp } = await import('../../adapters/http/koa/animal-store-router.js');
    const handle = createKoaApp(await context.getAsync(TOKENS.httpInterface)).callback();
    return (request, response) => void handle(request, response);
  });
};

/**
 * Wires the service by the settings of a program, with the adapters given, then those of `ADAPTERS`. Nothing is opened
 * before it is needed. Only stores have resources to close. The URL of the store is checked when the store is opened.
 * @throws {SettingsError} naming every adapter of `ADAPTERS` that cannot be loaded.
 */
export async function createContainer(
  settings: Settings,
  adapters: readonly Adapter[] = [],
): Promise<Container> {
  const container = await wire(settings, adapters);
  const faults = await loadAdapters(settings.adapters, container);
  if (faults.length > 0) throw new SettingsError(faults);
  // Unlike `serve`, a program issues no first key. The warning waits for the authenticator: it is made after the log.
  if (settings.storeUrl === 'memory:' && settings.staticKeys.length === 0)
    wiring(container).decorate(TOKENS.authenticator, async (authenticator, context) => {
      const logger = await context.getAsync(TOKENS.logger);
      logger?.warn('without API_KEYS, the only API keys are those that this process issues');
      return authenticator;
    });
  return container;
}

async function wire(settings: Settings, adapters: readonly Adapter[]): Promise<Container> {
  const container = new Container();
  wiring(container).bind(TOKENS.settings, settings);
  for (const adapter of [application, apiKeyAuthentication, http, ...adapters])
    await load(container, adapter);
  return container;
}

/**
 * Wires a command by its environment, with the adapters given, then those of `ADAPTERS`. Opens nothing. Checks the URL
 * of the store, too, so that one error names all faults.
 * @param used the names of the settings that must be valid. Default: all.
 * @throws {SettingsError} naming every invalid setting and every adapter that cannot be loaded.
 */
export async function configure(
  environment: Environment,
  adapters: readonly Adapter[] = [],
  used?: readonly string[],
): Promise<Container> {
  const { settings, faults } = parseSettings(environment, used);
  const container = await wire(settings, adapters);
  faults.push(...(await loadAdapters(settings.adapters, container)));
  if (used === undefined || used.includes('STORE_URL')) {
    const factories = await container.getAllAsync(TOKENS.storeFactory);
    const found = await factoryFor(settings.storeUrl, factories);
    if (typeof found === 'string') faults.push(`STORE_URL ${found}`);
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return container;
}
