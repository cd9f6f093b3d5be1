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
import {
  TOKENS,
  allOf,
  wiring,
  type Adapter,
  type BindFrom,
  type Dependency,
  type Token,
} from './wiring.js';

/** The use cases on the store that the settings name. */
const application: Adapter = ({ bind, bindFrom }) => {
  for (const factory of STORE_FACTORIES) bind(TOKENS.storeFactory, factory);
  bind(TOKENS.clock, systemClock);
  bind(TOKENS.logger, undefined);
  bindFrom(TOKENS.openOptions, [TOKENS.logger], (logger) => {
    if (logger === undefined) return {};
    return { onNotice: (line, level = 'warn') => logger[level](`store: ${line}`) };
  });
  bindFrom(
    TOKENS.store,
    [TOKENS.settings, allOf(TOKENS.storeFactory), TOKENS.openOptions],
    ({ storeUrl }, factories, openOptions) =>
      openStore(storeUrl, { ...openOptions, factories, name: 'STORE_URL' }),
  );
  bindFrom(TOKENS.petRepository, [TOKENS.store], ({ pets }) => pets);
  bindFrom(TOKENS.petChanges, [TOKENS.settings, TOKENS.store], ({ experimental }, { changes }) => {
    if (changes !== undefined || experimental.length === 0) return changes;
    const fault = 'EXPERIMENTAL must be empty: the store of STORE_URL cannot change animals';
    throw new SettingsError([fault]);
  });
  bindFrom(
    TOKENS.animalStore,
    [TOKENS.petRepository, TOKENS.petChanges, TOKENS.clock],
    (pets, changes, clock) => createAnimalStore({ pets, changes, clock, sha256 }),
  );
};

function sha256(text: string): string {
  return hash('sha256', text);
}

/** Static keys of the settings, managed keys of the store. */
const apiKeyAuthentication: Adapter = ({ bindFrom }) => {
  bindFrom(TOKENS.apiKeyRepository, [TOKENS.store], ({ apiKeys }) => apiKeys);
  bindFrom(
    TOKENS.managedApiKeys,
    [TOKENS.settings, TOKENS.apiKeyRepository, TOKENS.clock],
    (settings, apiKeys, clock) => {
      const generate = apiKeyGenerator(settings.keyEnvironment);
      return apiKeys && new ManagedApiKeys({ apiKeys, generate, clock });
    },
  );
  bindFrom(
    TOKENS.authenticator,
    [TOKENS.settings, TOKENS.apiKeyRepository, TOKENS.clock],
    (settings, apiKeys, clock) =>
      new ApiKeyAuthenticator({ staticKeys: settings.staticKeys, apiKeys, clock }),
  );
};

/** The HTTP interface, on Koa. Loaded when it is first needed: most commands do not need it. */
const http: Adapter = ({ bindFrom }) => {
  bindFrom(TOKENS.httpLog, [TOKENS.logger, TOKENS.clock], (logger, clock) => {
    if (logger === undefined) return { responded() {} };
    return httpLogTo(logger, clock);
  });
  bindFrom(
    TOKENS.rateLimiter,
    [TOKENS.settings],
    ({ rateLimit }) => rateLimit && memoryRateLimiter(rateLimit),
  );
  bindFrom(TOKENS.readiness, [TOKENS.store], (store) => {
    return new Readiness((call) => store.check(call));
  });
  bindFrom(
    TOKENS.admission,
    [TOKENS.settings],
    ({ maxInFlight }) => new AdmissionControl({ maxInFlight }),
  );
  bindFrom(TOKENS.docs, [], async () => {
    const { readDocsFiles } = await import('../../adapters/http/node/docs-files.js');
    return readDocsFiles();
  });
  const parts = {
    settings: TOKENS.settings,
    animalStore: TOKENS.animalStore,
    authenticator: TOKENS.authenticator,
    readiness: TOKENS.readiness,
    log: TOKENS.httpLog,
    rateLimiter: TOKENS.rateLimiter,
    admission: TOKENS.admission,
    docs: TOKENS.docs,
  };
  bindFromNamed(bindFrom, TOKENS.httpInterface, parts, async (given) => {
    const { HttpInterface } = await import('../../adapters/http/http-interface.js');
    const { clientAddressBehind } = await import('./client-address.js');
    const { trustedProxies } = given.settings;
    const isBehindProxies = trustedProxies.length > 0;
    const clientAddress = isBehindProxies ? clientAddressBehind(trustedProxies) : undefined;
    return new HttpInterface({ ...given, clientAddress });
  });
  bindFrom(TOKENS.requestListener, [TOKENS.httpInterface], async (httpInterface) => {
    const { createKoaApp } = await import('../../adapters/http/koa/animal-store-router.js');
    const handle = createKoaApp(httpInterface).callback();
    return (request, response) => void handle(request, response);
  });
};

/** Binds like `bindFrom`, but `make` takes its dependencies by name: for more of them than an order can tell apart. */
function bindFromNamed<T, Parts extends object>(
  bindFrom: BindFrom,
  target: Token<T>,
  dependencies: { readonly [Name in keyof Parts]: Dependency<Parts[Name]> },
  make: (parts: Parts) => Promise<NoInfer<T>>,
): void {
  const names = Object.keys(dependencies);
  bindFrom(target, Object.values<Dependency<unknown>>(dependencies), (...values) => {
    const parts = names.map((name, index) => [name, values[index]]);
    return make(Object.fromEntries(parts) as Parts);
  });
}

/**
 * Wires the service, then loads the adapters given and those of `ADAPTERS`.
 * Nothing is opened before it is needed. Only stores have resources to close.
 * @throws {SettingsError} naming every adapter of `ADAPTERS` that cannot be loaded.
 */
export async function createContainer(
  settings: Settings,
  adapters: readonly Adapter[] = [],
): Promise<Container> {
  const container = await wire(settings, adapters);
  const faults = await loadAdapters(settings.adapters, container);
  if (faults.length > 0) throw new SettingsError(faults);
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
  const container = await wire(settings, adapters);
  faults.push(...(await loadAdapters(settings.adapters, container)));
  if (used === undefined || used.includes('STORE_URL')) {
    const factories = await container.getAllAsync(TOKENS.storeFactory);
    const factory = await factoryFor(settings.storeUrl, factories);
    const isPortShared = used === undefined && settings.reusePort === 'on';
    if (typeof factory === 'string') faults.push(`STORE_URL ${factory}`);
    else if (isPortShared && !factory.isShared)
      faults.push('REUSE_PORT must be off: processes cannot share the store of STORE_URL');
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return container;
}
