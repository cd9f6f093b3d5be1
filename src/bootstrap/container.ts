import { Container, type ContainerModule } from 'inversify';
import { apiKeyAuthentication } from './modules/api-key-authentication.js';
import { application } from './modules/application.js';
import { httpInterface } from './modules/http-interface.js';
import { koaTransport } from './modules/koa-transport.js';
import { memoryStore } from './modules/memory-store.js';
import { mongodbStore } from './modules/mongodb-store.js';
import { sqliteStore } from './modules/sqlite-store.js';
import type { Settings } from './settings.js';
import { TOKENS } from './tokens.js';

/**
 * Wires the service: one module for each adapter, and the modules of others after ours. A module adds by
 * `bind` and replaces by `rebind`. Nothing is opened before it is asked for. What has to be opened and closed
 * comes as a store factory; a repository is rebound to be decorated, and closes with the store it is from.
 */
export async function createContainer(
  settings: Settings,
  adapters: readonly ContainerModule[] = [],
): Promise<Container> {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.settings).toConstantValue(settings);
  await container.loadAsync(
    memoryStore,
    sqliteStore,
    mongodbStore,
    application,
    apiKeyAuthentication,
    httpInterface,
    koaTransport,
    ...adapters,
  );
  return container;
}
