import { Container, ContainerModule } from 'inversify';
import { hash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { apiKeyGenerator } from '../../adapters/api-keys/api-key.js';
import { AdmissionControl } from '../../adapters/http/node/admission-control.js';
import type { DocsFile } from '../../adapters/http/docs-routes.js';
import type { HttpInterface } from '../../adapters/http/http-interface.js';
import type { HttpLog } from '../../adapters/http/http-log.js';
import { Readiness } from '../../adapters/http/health.js';
import type { RateLimiter } from '../../adapters/http/rate-limit.js';
import { createAnimalStore } from '../../application/create-animal-store.js';
import { ManagedApiKeys } from '../../application/manage-api-keys.js';
import { systemClock } from '../../application/ports/clock.js';
import type * as core from '../../index.js';
import { loadAdapters } from './load-adapters.js';
import { httpLogTo } from './logger.js';
import { memoryRateLimiter } from './memory-rate-limiter.js';
import { sqliteUrlFault } from './setting-values.js';
import { SettingsError, parseSettings, type Environment, type Settings } from './settings.js';
import { add, decorate, every, token } from './wiring.js';

/** Everything that is bound, and can be replaced or decorated. */
export const TOKENS = {
  settings: token<Settings>('Settings'),
  clock: token<core.Clock>('Clock'),
  /** There may be several: `STORE_URL` chooses by scheme. */
  storeFactory: token<core.StoreFactory>('StoreFactory'),
  openOptions: token<core.OpenOptions>('OpenOptions'),
  store: token<core.Store>('Store'),
  petRepository: token<core.PetRepository>('PetRepository'),
  /** `undefined` if the animals of the store cannot be changed. */
  petChanges: token<core.PetChanges | undefined>('PetChanges'),
  /** These two are `undefined` if the store keeps no keys. */
  apiKeyRepository: token<core.ApiKeyRepository | undefined>('ApiKeyRepository'),
  managedApiKeys: token<ManagedApiKeys | undefined>('ManagedApiKeys'),
  animalStore: token<core.AnimalStore>('AnimalStore'),
  authenticator: token<core.Authenticator>('Authenticator'),
  readiness: token<Readiness>('Readiness'),
  /** `undefined`, so that nothing is logged, unless a module replaces it, as `serve` does. */
  logger: token<Logger | undefined>('Logger'),
  httpLog: token<HttpLog>('HttpLog'),
  /** `undefined` if requests are not limited. */
  rateLimiter: token<RateLimiter | undefined>('RateLimiter'),
  admission: token<AdmissionControl>('AdmissionControl'),
  /** The files of the docs page. `undefined`: there is none. */
  docs: token<readonly DocsFile[] | undefined>('Docs'),
  httpInterface: token<HttpInterface>('HttpInterface'),
  requestListener: token<RequestListener>('RequestListener'),
} as const;

const t = TOKENS;

/** A module for each store. An adapter is loaded when it is first needed: a driver takes longer than a command. */
const factories: readonly core.StoreFactory[] = [
  {
    scheme: 'memory',
    check: async (url) => (url === 'memory:' ? undefined : 'must be memory: alone'),
    open: async () =>
      (await import('../../adapters/memory/open-memory-store.js')).openMemoryStore(),
  },
  {
    scheme: 'sqlite',
    isShared: true,
    check: async (url) => sqliteUrlFault(url),
    // Everything after the first colon is the path, taken literally.
    open: async (url, options) =>
      (await import('../../adapters/sqlite/open-sqlite-store.js')).openSqliteStore(
        url.slice(7),
        options,
      ),
  },
  {
    scheme: ['mongodb', 'mongodb+srv'],
    isShared: true,
    check: async (url) => (await import('../../adapters/mongodb/mongo-url.js')).mongoUrlFault(url),
    open: async (url, options) =>
      (await import('../../adapters/mongodb/open-mongo-store.js')).openMongoStore(url, options),
  },
];
const stores = factories.map(
  (factory) => new ContainerModule((options) => add(options, t.storeFactory, factory)),
);

/** The use cases on the store that the settings name. */
const application = new ContainerModule((options) => {
  add(options, t.clock, systemClock);
  add(options, t.logger, undefined);
  add(options, t.openOptions, [t.logger], (logger) =>
    logger ? { onNotice: (line, level = 'warn') => logger[level](`store: ${line}`) } : {},
  );
  add(
    options,
    t.store,
    [t.settings, every(t.storeFactory), t.openOptions],
    ({ storeUrl }, factories, open) => openStore('STORE_URL', storeUrl, factories, open),
  );
  add(options, t.petRepository, [t.store], ({ pets }) => pets);
  add(options, t.petChanges, [t.settings, t.store], ({ experimental }, { changes }) => {
    if (experimental.length > 0 && changes === undefined)
      throw new SettingsError([
        'EXPERIMENTAL must be empty: the store of STORE_URL cannot change animals',
      ]);
    return changes;
  });
  add(options, t.animalStore, [t.petRepository, t.petChanges, t.clock], (pets, changes, clock) =>
    createAnimalStore({ pets, changes, clock, sha256: (text) => hash('sha256', text) }),
  );
});

/** Static keys of the settings, managed keys of the store. */
const apiKeyAuthentication = new ContainerModule((options) => {
  add(options, t.apiKeyRepository, [t.store], ({ apiKeys }) => apiKeys);
  add(
    options,
    t.managedApiKeys,
    [t.settings, t.apiKeyRepository, t.clock],
    (settings, apiKeys, clock) => {
      const generate = apiKeyGenerator(settings.keyEnvironment);
      return apiKeys && new ManagedApiKeys({ apiKeys, generate, clock });
    },
  );
  add(
    options,
    t.authenticator,
    [t.settings, t.apiKeyRepository, t.clock],
    (settings, apiKeys, clock) => {
      return new ApiKeyAuthenticator({ staticKeys: settings.staticKeys, apiKeys, clock });
    },
  );
});

/** The HTTP interface, on Koa. Loaded when it is first needed: most commands do not need it. */
const http = new ContainerModule((options) => {
  add(options, t.httpLog, [t.logger, t.clock], (logger, clock) =>
    logger ? httpLogTo(logger, clock) : { responded: () => {} },
  );
  add(
    options,
    t.rateLimiter,
    [t.settings],
    ({ rateLimit }) => rateLimit && memoryRateLimiter(rateLimit),
  );
  add(options, t.readiness, [t.store], (store) => new Readiness((call) => store.check(call)));
  add(
    options,
    t.admission,
    [t.settings],
    ({ maxInFlight }) => new AdmissionControl({ maxInFlight }),
  );
  add(options, t.docs, [], async () =>
    (await import('../../adapters/http/node/docs-files.js')).readDocsFiles(),
  );
  add(
    options,
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
      const parts = {
        animalStore,
        authenticator,
        readiness,
        log,
        rateLimiter,
        admission,
        clientAddress,
      };
      return new HttpInterface({ ...parts, settings, docs });
    },
  );
  add(options, t.requestListener, [t.httpInterface], async (httpInterface) => {
    const { createKoaApp } = await import('../../adapters/http/koa/animal-store-router.js');
    const handle = createKoaApp(httpInterface).callback();
    return (request, response) => void handle(request, response);
  });
});

/**
 * Wires the service, then loads the modules of others and those of `ADAPTERS`, which may `add`, `replace` and `decorate`.
 * Nothing is opened before it is needed. Only stores have resources to close.
 * @throws {SettingsError} naming every module of `ADAPTERS` that cannot be loaded.
 */
export async function createContainer(
  settings: Settings,
  modules: readonly ContainerModule[] = [],
): Promise<Container> {
  const container = await wire(settings, modules);
  const faults = await loadAdapters(settings.adapters, container);
  if (faults.length > 0) throw new SettingsError(faults);
  if (settings.storeUrl === 'memory:' && settings.staticKeys.length === 0)
    decorate(container, TOKENS.authenticator, async (authenticator, context) => {
      const logger = await context.getAsync(TOKENS.logger);
      logger?.warn('without API_KEYS, the only API keys are those that this process issues');
      return authenticator;
    });
  return container;
}

async function wire(settings: Settings, modules: readonly ContainerModule[]): Promise<Container> {
  const container = new Container();
  add(container, TOKENS.settings, settings);
  await container.loadAsync(...stores, application, apiKeyAuthentication, http, ...modules);
  return container;
}

/**
 * Wires the service by its environment, with the modules given and those that `ADAPTERS` names. Opens nothing.
 * @param used the names of the settings that must be valid. Default: all.
 * @throws {SettingsError} naming every invalid setting and every module that cannot be loaded.
 */
export async function configure(
  environment: Environment,
  modules: readonly ContainerModule[] = [],
  used?: readonly string[],
): Promise<Container> {
  const { settings, faults } = parseSettings(environment, used);
  const container = await wire(settings, modules);
  faults.push(...(await loadAdapters(settings.adapters, container)));
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

/**
 * The factory for a URL, or what is wrong with the URL. It is the last factory with its scheme, so that adapters of
 * others can replace ours.
 */
async function factoryFor(url: string, factories: readonly core.StoreFactory[]) {
  const [scheme = ''] = url.split(':', 1);
  const factory = factories.findLast((each) => [each.scheme].flat().includes(scheme));
  const known = factories.flatMap((each) => each.scheme).map((each) => `${each}:`);
  const unknown = `must start with the scheme of a store: ${known.join(', ')}`;
  return (await factory?.check?.(url)) ?? factory ?? unknown;
}

/** @throws {SettingsError} the URL is not valid, which comes from `setting`. Nothing was opened. */
export async function openStore(
  setting: string,
  url: string,
  factories: readonly core.StoreFactory[],
  options?: core.OpenOptions,
): Promise<core.Store> {
  const factory = await factoryFor(url, factories);
  if (typeof factory === 'string') throw new SettingsError([`${setting} ${factory}`]);
  return factory.open(url, options);
}
