import { SettingsError, type Settings } from './settings.js';
import type { OpenOptions, Store, StoreFactory } from '../application/ports/store.js';

/**
 * Opens the store that `STORE_URL` names. Of factories with the same scheme the one bound last is taken, so
 * that an adapter of others can take the place of one of ours.
 * @throws {SettingsError} no factory knows the scheme; @throws {Error} the store cannot be used
 */
export function openStore(
  { storeUrl }: Settings,
  factories: readonly StoreFactory[],
  options?: OpenOptions,
): Promise<Store> {
  const scheme = storeUrl.slice(0, storeUrl.indexOf(':'));
  const factory = factories.findLast((candidate) => [candidate.scheme].flat().includes(scheme));
  if (factory === undefined) {
    const known = factories.flatMap((candidate) => candidate.scheme);
    throw new SettingsError([`STORE_URL has the scheme ${scheme}:, and known are ${known.join(', ')}`]);
  }
  return factory.open(storeUrl, options);
}
