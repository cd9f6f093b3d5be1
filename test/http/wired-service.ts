import { ContainerModule, type Container } from 'inversify';
import { ManagedApiKeys } from '../../src/adapters/api-keys/managed-api-keys.js';
import type { Scope } from '../../src/application/ports/authenticator.js';
import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import { createContainer } from '../../src/bootstrap/container.js';
import { readSettings } from '../../src/bootstrap/settings.js';
import { TOKENS } from '../../src/bootstrap/tokens.js';
import { IdempotencyConflictError, StoreUnavailableError } from '../../src/domain/errors.js';
import { SITUATIONS, type SituationSetup, type Situation } from '../contract/http/request-row.js';
import type { Keys } from '../contract/http/subject.js';

const HOUR = 60 * 60 * 1000;
const STATIC_KEYS = { key: 'static-key-0123456789', secondKey: 'a+b/c~d.e_f-0123456789==' };

/** The service as it is wired, for any transport, in a situation. */
export interface Wired {
  readonly container: Container;
  readonly store: SituationSetup['store'];
  /** Resolves when the store, if it is not well, was used for the first time. */
  readonly called: Promise<void>;
}

export async function wire(situation: Situation, storeUrl: string): Promise<Wired> {
  const { settings = {}, store }: SituationSetup = SITUATIONS[situation];
  const called = Promise.withResolvers<void>();
  const container = await createContainer(
    readSettings({
      HOST: '127.0.0.1',
      PORT: '0',
      STORE_URL: storeUrl,
      API_KEYS: Object.values(STATIC_KEYS).join(','),
      LOG_LEVEL: 'silent',
      SHUTDOWN_DEADLINE: '1s',
      ...settings,
    }),
    store === undefined ? [] : [brokenStore(store, called.resolve)],
  );
  return { container, store, called: called.promise };
}

/** The static keys, and managed ones that are issued in the store. */
export async function keysOf(container: Container): Promise<Keys> {
  const keys = await container.getAsync(TOKENS.apiKeyRepository);
  if (keys === undefined) throw new Error('the store keeps no API keys');
  const managed = new ManagedApiKeys({ keys });
  const issue = async (name: string, scopes?: readonly Scope[]): Promise<string> =>
    (await managed.issue({ name, scopes })).key;
  const anHourAgo = new ManagedApiKeys({ keys, clock: { now: () => new Date(Date.now() - HOUR) } });
  const expired = await anHourAgo.issue({ name: 'expired', expiresAt: new Date(Date.now() - 1) });
  const revoked = await managed.issue({ name: 'revoked' });
  await managed.revoke(revoked.record.id);
  return {
    ...STATIC_KEYS,
    managedKey: await issue('everything'),
    readOnlyKey: await issue('reads', ['pets:read']),
    writeOnlyKey: await issue('writes', ['pets:write']),
    expiredKey: expired.key,
    revokedKey: revoked.key,
  };
}

/** An adapter as others would bring it: a store of pets that is not well. `onCall` hears of the first use. */
function brokenStore(fault: NonNullable<SituationSetup['store']>, onCall: () => void): ContainerModule {
  const fails = async (): Promise<never> => {
    onCall();
    if (fault === 'away') throw new StoreUnavailableError('a secret of the inside', { retryAfter: 7 });
    if (fault === 'undecided') throw new IdempotencyConflictError({ retryAfter: 3 });
    if (fault === 'faulty') throw new TypeError('a secret of the inside');
    return new Promise(() => {});
  };
  const pets: PetRepository = {
    capabilities: { durable: false, shared: false },
    add: fails,
    findById: fails,
    list: fails,
    check: fault === 'occupied' ? async () => {} : fails,
    close: async () => {},
  };
  return new ContainerModule(({ rebind }) => {
    rebind(TOKENS.petRepository).toConstantValue(pets);
  });
}
