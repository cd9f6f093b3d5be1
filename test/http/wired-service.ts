import { ContainerModule, type Container } from 'inversify';
import { createContainer } from '../../src/bootstrap/container.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { TOKENS } from '../../src/bootstrap/tokens.js';
import { ailingPets } from '../contract/http/ailing-store.js';
import { STATIC_KEYS, issueKeys } from '../contract/http/http-keys.js';
import type { HttpKeys } from '../contract/http/request-row.js';
import {
  SITUATIONS,
  environmentOf,
  type Situation,
  type SituationSetup,
} from '../contract/http/situation.js';

/** The service as it is wired, for any transport, in a situation. */
export interface Wired {
  readonly container: Container;
  readonly fault: SituationSetup['store'];
  /** Resolves when the store, if it is not well, was used for the first time. */
  readonly used: Promise<void>;
}

export async function wire(
  situation: Situation,
  storeUrl: string,
  adapters: readonly ContainerModule[] = [],
): Promise<Wired> {
  const { store: fault }: SituationSetup = SITUATIONS[situation];
  const { promise: used, resolve: onCall } = Promise.withResolvers<void>();
  const ailing = new ContainerModule(({ rebind }) => {
    if (fault) rebind(TOKENS.petRepository).toConstantValue(ailingPets(fault, onCall));
  });
  const settings = readSettings({
    HOST: '127.0.0.1',
    PORT: '0',
    STORE_URL: storeUrl,
    API_KEYS: Object.values(STATIC_KEYS).join(','),
    LOG_LEVEL: 'silent',
    // Requests that occupy the service do not end by themselves.
    SHUTDOWN_DEADLINE: fault === 'occupied' ? '50ms' : '1s',
    ...environmentOf(situation),
  });
  return { container: await createContainer(settings, [...adapters, ailing]), fault, used };
}

/** The static keys, and managed ones that are issued in the store. */
export async function keysOf(container: Container): Promise<HttpKeys> {
  const keys = await container.getAsync(TOKENS.apiKeyRepository);
  if (keys === undefined) throw new Error('the store keeps no API keys');
  return issueKeys(keys);
}
