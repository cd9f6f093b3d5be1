import { memoryStoreFactory } from '../../adapters/memory/open-memory-store.js';
import { mongoStoreFactory } from '../../adapters/mongodb/mongo-store-factory.js';
import { sqliteStoreFactory } from '../../adapters/sqlite/sqlite-store-factory.js';
import type { OpenOptions, Store, StoreFactory } from '../../application/ports/store.js';
import { SettingsError } from './settings.js';

/** The stores of this package. */
export const STORE_FACTORIES = [memoryStoreFactory, sqliteStoreFactory, mongoStoreFactory] as const;

/**
 * The factory for a URL, or what is wrong with the URL. It is the last factory with its scheme, so that adapters of
 * others can replace ours.
 */
export async function factoryFor(
  url: string,
  factories: readonly StoreFactory[],
): Promise<StoreFactory | string> {
  const [scheme = ''] = url.split(':', 1);
  const factory = factories.findLast((each) => schemesOf(each).includes(scheme));
  if (factory === undefined) {
    const known = factories.flatMap(schemesOf).map((each) => `${each}:`);
    return `must start with the scheme of a store: ${known.join(', ')}`;
  }
  const fault = await factory.check?.(url);
  return fault ?? factory;
}

function schemesOf({ scheme }: StoreFactory): readonly string[] {
  return [scheme].flat();
}

/**
 * Opens the store at a URL, written as in `STORE_URL`.
 * @param options beside how to open it: `factories`, the stores to choose from, of two with one scheme the last
 * (default: those of this package), and `name`, how error messages call the URL (default: `URL`)
 * @throws {SettingsError} the URL is not valid. Nothing was opened.
 */
export async function openStore(
  url: string,
  options: OpenOptions & {
    readonly factories?: readonly StoreFactory[];
    readonly name?: string;
  } = {},
): Promise<Store> {
  const { factories = STORE_FACTORIES, name = 'URL', ...how } = options;
  const found = await factoryFor(url, factories);
  if (typeof found === 'string') throw new SettingsError([`${name} ${found}`]);
  return found.open(url, how);
}
