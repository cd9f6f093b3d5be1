import { Container, ContainerModule } from 'inversify';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApiKeyAuthenticator } from '../../adapters/api-keys/api-key-authenticator.js';
import { Readiness } from '../../adapters/http/health.js';
import { AdmissionControl } from '../../adapters/http/node/admission-control.js';
import { memoryStoreFactory } from '../../adapters/memory/memory-store.js';
import { mongoStoreFactory } from '../../adapters/mongodb/mongo-store-factory.js';
import { sqliteStoreFactory } from '../../adapters/sqlite/sqlite-store-factory.js';
import { createAnimalStore } from '../../application/create-animal-store.js';
import { systemClock } from '../../application/ports/clock.js';
import type { OpenMode, OpenOptions, Store, StoreFactory } from '../../application/ports/store.js';
import { responseLog } from './response-log.js';
import { SettingsError, type Settings } from './settings.js';
import { TOKENS } from './tokens.js';

/**
 * Wires the service: its own modules, then `modules`, then those of `ADAPTERS`. Each may `bind` more parts,
 * `rebind` one to replace it, or decorate one by `onActivation`. Nothing is opened before it is needed.
 * @param mode how the store is opened. Default: `create`
 * @throws {SettingsError} a module of `ADAPTERS` cannot be loaded, or exports no adapter
 */
export async function createContainer(
  settings: Settings,
  modules: readonly ContainerModule[] = [],
  mode: OpenMode = 'create',
): Promise<Container> {
  const adapters = await Promise.all(settings.adapters.map(loadAdapter));
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.settings).toConstantValue(settings);
  await container.loadAsync(application(mode), apiKeys, http, ...modules, ...adapters);
  return container;
}

/** The stores of this package. None loads its driver before it opens one. */
const STORE_FACTORIES = [memoryStoreFactory, sqliteStoreFactory, mongoStoreFactory] as const;

/** The clock, the store that the settings name, and the use cases on it. */
const application = (mode: OpenMode): ContainerModule =>
  new ContainerModule(({ bind }) => {
    bind(TOKENS.clock).toConstantValue(systemClock);
    for (const factory of STORE_FACTORIES) bind(TOKENS.storeFactory).toConstantValue(factory);
    bind(TOKENS.store).toDynamicValue(async (context) => {
      const factories = await context.getAllAsync(TOKENS.storeFactory);
      return openStore(context.get(TOKENS.settings).storeUrl, { mode }, factories);
    });
    bind(TOKENS.animalStore).toResolvedValue(
      ({ pets, changes }, clock, { experimental }) => {
        if (changes === undefined && experimental.length > 0)
          throw new SettingsError(['EXPERIMENTAL must be empty: the store cannot change animals']);
        return createAnimalStore({ pets, changes, clock });
      },
      [TOKENS.store, TOKENS.clock, TOKENS.settings],
    );
  });

/** Static keys of the settings, managed keys of the store. */
const apiKeys = new ContainerModule(({ bind }) => {
  bind(TOKENS.authenticator).toResolvedValue(
    ({ staticKeys }, store, clock) =>
      new ApiKeyAuthenticator({ staticKeys, apiKeys: store.apiKeys, clock }),
    [TOKENS.settings, TOKENS.store, TOKENS.clock],
  );
});

/** The HTTP interface, on Koa. Both are imported when first needed: most commands use neither. */
const http = new ContainerModule(({ bind }) => {
  bind(TOKENS.httpLog).toDynamicValue(async (context) => {
    const logger = await context.getAsync(TOKENS.logger, { optional: true });
    return logger ? responseLog(logger) : { responded() {} };
  });
  bind(TOKENS.readiness).toResolvedValue(
    (store) => new Readiness((options) => store.check(options)),
    [TOKENS.store],
  );
  bind(TOKENS.admission).toResolvedValue(
    ({ maxInFlight }) => new AdmissionControl({ maxInFlight }),
    [TOKENS.settings],
  );
  bind(TOKENS.httpInterface).toDynamicValue(async (context) => {
    const { HttpInterface } = await import('../../adapters/http/index.js');
    const { readDocsFiles } = await import('../../adapters/http/node/docs-files.js');
    return new HttpInterface({
      settings: context.get(TOKENS.settings),
      animalStore: await context.getAsync(TOKENS.animalStore),
      authenticator: await context.getAsync(TOKENS.authenticator),
      readiness: await context.getAsync(TOKENS.readiness),
      log: await context.getAsync(TOKENS.httpLog),
      admission: await context.getAsync(TOKENS.admission),
      docs: await readDocsFiles(),
    });
  });
  bind(TOKENS.requestListener).toResolvedValue(
    async (httpInterface) => {
      const { createKoaApp } = await import('../../adapters/http/koa/index.js');
      return createKoaApp(httpInterface).callback();
    },
    [TOKENS.httpInterface],
  );
});

/**
 * Opens the store at a URL, written as in `STORE_URL`.
 * @param factories the stores to choose from; if two have the same scheme, the last wins. Default: those of this
 * package
 * @throws {SettingsError} no store has the scheme of the URL. Nothing was opened.
 */
export async function openStore(
  url: string,
  options?: OpenOptions,
  factories: readonly StoreFactory[] = STORE_FACTORIES,
): Promise<Store> {
  const [scheme = ''] = url.split(':', 1);
  const factory = factories.findLast((each) => [each.scheme].flat().includes(scheme.toLowerCase()));
  if (factory) return factory.open(url, options);
  const known = factories.flatMap((each) => each.scheme).map((each) => `${each}:`);
  throw new SettingsError([
    `The URL of a store (STORE_URL, --from, --to) must start with the scheme of a store: ${known.join(', ')}`,
  ]);
}

/** Imports a module of `ADAPTERS`: a package, or a path from the working directory. */
async function loadAdapter(specifier: string): Promise<ContainerModule> {
  const isPath = specifier.startsWith('.') || isAbsolute(specifier);
  try {
    const { adapter }: { adapter?: ContainerModule } = await import(
      isPath ? pathToFileURL(resolve(specifier)).href : specifier
    );
    if (typeof adapter?.load === 'function') return adapter;
    throw new TypeError('it exports no adapter, a ContainerModule of Inversify');
  } catch (error) {
    const reason = (error as Error).message;
    throw new SettingsError([`ADAPTERS ${specifier} cannot be loaded: ${reason}`]);
  }
}
