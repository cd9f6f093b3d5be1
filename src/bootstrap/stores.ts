import type { StoreFactory } from '../application/ports/store.js';
import { SettingsError } from './settings.js';

const memory: StoreFactory = {
  scheme: 'memory',
  check: async (url) => (url === 'memory:' ? undefined : 'must be memory: alone: such a store has no name'),
  open: async () => (await import('../adapters/memory/open-memory-store.js')).openMemoryStore(),
};

/** Everything after the first colon is the path, taken literally. */
const sqlite: StoreFactory = {
  scheme: 'sqlite',
  check: async (url) =>
    /^sqlite:(?::memory:)?$/.test(url) ? 'must name a file, such as sqlite:data/animal-store.db' : undefined,
  async open(url, options) {
    const { openSqliteStore } = await import('../adapters/sqlite/open-sqlite-store.js');
    return openSqliteStore(url.slice('sqlite:'.length), options);
  },
};

/** The whole URL is a connection string of MongoDB. */
const mongodb: StoreFactory = {
  scheme: ['mongodb', 'mongodb+srv'],
  check: async (url) => (await import('../adapters/mongodb/open-mongo-store.js')).mongoUrlFault(url),
  open: async (url, options) =>
    (await import('../adapters/mongodb/open-mongo-store.js')).openMongoStore(url, options),
};

/** The stores that the package brings. Each loads its adapter when it is first used. */
export const STORE_FACTORIES: readonly StoreFactory[] = [memory, sqlite, mongodb];

/**
 * Finds the factory for a URL: the last one with its scheme, so that adapters of others can replace ours.
 * @param setting the setting or option that the URL comes from
 * @throws {SettingsError} the URL is not valid. Nothing was opened.
 */
export async function factoryFor(
  setting: string,
  url: string,
  factories: readonly StoreFactory[],
): Promise<StoreFactory> {
  const [scheme = ''] = url.split(':', 1);
  const factory = factories.findLast((each) => [each.scheme].flat().includes(scheme));
  const known = factories.flatMap((each) => each.scheme).map((each) => `${each}:`);
  const unknown = `must start with the scheme of a store: ${known.join(', ')}`;
  const fault = factory ? await factory.check?.(url) : unknown;
  if (factory === undefined || fault !== undefined) throw new SettingsError([`${setting} ${fault}`]);
  return factory;
}
