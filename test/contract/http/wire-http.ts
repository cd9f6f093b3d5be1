import {
  ApiKeyAuthenticator,
  ManagedApiKeys,
  apiKeyGenerator,
} from '../../../src/adapters/api-keys/index.js';
import { HttpInterface, Readiness, type HttpSettings } from '../../../src/adapters/http/index.js';
import { AdmissionControl, readDocsFiles } from '../../../src/adapters/http/node/index.js';
import { openMemoryStore } from '../../../src/adapters/memory/index.js';
import { createAnimalStore } from '../../../src/application/create-animal-store.js';
import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import { SCOPES, type Scope } from '../../../src/application/ports/authenticator.js';
import type { CompleteStore } from '../../../src/application/ports/store.js';
import { IdempotencyConflictError, UnavailableError } from '../../../src/domain/errors.js';

/** How a service is set up: settings that differ from the defaults, and the fault of its store. */
interface SituationSetup {
  /** Settings of the HTTP interface that differ from the defaults. */
  readonly settings?: Partial<Omit<HttpSettings, 'rateLimit'>>;
  /** How many requests may be in progress. Default: a service's own, which no case reaches. */
  readonly maxInFlight?: number;
  /** What the store of animals does. Default: it works. */
  readonly store?: StoreFault;
}

/**
 * - `unreachable`: rejects with `UnavailableError`, with a Retry-After of 7 s
 * - `faulty`: rejects with an unexpected error
 * - `undecided`: an earlier create with the same key is in progress, with a Retry-After of 3 s
 * - `stuck`: never resolves
 * - `occupied`: never resolves, and one request is waiting for it before the first case runs
 */
type StoreFault = 'unreachable' | 'faulty' | 'undecided' | 'stuck' | 'occupied';

/** The ways to set a service up for the HTTP contract, by name. All other settings have their defaults. */
export const SITUATIONS = {
  plain: {},
  publicUrl: { settings: { publicUrl: 'https://animals.example/shop/v1' } },
  otherBasePath: { settings: { basePath: '/animals/v1' } },
  smallBodies: { settings: { bodyLimit: 100 } },
  deprecatedLater: { settings: { deprecatedSince: new Date('2029-02-28') } },
  getPetOff: { settings: { getPet: 'off' } },
  storeUnreachable: { store: 'unreachable' },
  storeFaulty: { store: 'faulty' },
  storeUndecided: { store: 'undecided' },
  storeStuck: { settings: { requestDeadline: 50 }, store: 'stuck' },
  /** Pages of two origins may use the service. */
  twoOrigins: { settings: { corsOrigins: ['https://one.example', 'http://localhost:5173'] } },
  /** Pages of any origin may use the service. */
  anyOrigin: { settings: { corsOrigins: ['*'] } },
  /** The experimental operations are served, also to pages of another origin. */
  experimental: {
    settings: { experimental: ['changePet', 'removePet'], corsOrigins: ['https://one.example'] },
  },
  experimentalAlone: { settings: { experimental: ['changePet', 'removePet'], getPet: 'off' } },
  experimentalUnreachable: {
    settings: { experimental: ['changePet', 'removePet'] },
    store: 'unreachable',
  },
  /** One request is in progress, and no more are allowed at the same time. */
  busy: { maxInFlight: 1, settings: { requestDeadline: 60_000 }, store: 'occupied' },
} as const satisfies Record<string, SituationSetup>;

/** The name of one of `SITUATIONS`. */
export type Situation = keyof typeof SITUATIONS;

/** The store's fault in a situation, if it has one. */
export const storeFault = (situation: Situation): StoreFault | undefined =>
  (SITUATIONS[situation] as SituationSetup).store;

/** A situation's settings as the environment of a service that runs as a process. */
export function environmentOf(situation: Situation): Readonly<Record<string, string>> {
  const { settings = {}, maxInFlight }: SituationSetup = SITUATIONS[situation];
  const { bodyLimit, deprecatedSince, requestDeadline } = settings;
  const texts = {
    ...settings,
    bodyLimit: bodyLimit && `${bodyLimit}b`,
    deprecatedSince: deprecatedSince?.toISOString().slice(0, 10),
    requestDeadline: requestDeadline && `${requestDeadline}ms`,
    maxInFlight,
  };
  return Object.fromEntries(
    Object.entries(texts)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.replaceAll(/[A-Z]/g, '_$&').toUpperCase(), String(value)]),
  );
}

/** The API keys that a service has from its start. */
export interface HttpKeys {
  /** A static key, with every scope. */
  readonly key: string;
  /** Another static key. */
  readonly secondKey: string;
  /** A managed key with every scope. */
  readonly managedKey: string;
  /** A managed key with the scope `pets:read` only. */
  readonly readOnlyKey: string;
  /** A managed key with the scope `pets:write` only. */
  readonly writeOnlyKey: string;
  /** A managed key that has expired. */
  readonly expiredKey: string;
  /** A managed key that was revoked. */
  readonly revokedKey: string;
}

/** Wires the HTTP interface on a store in memory, with the settings, keys and faults of a situation. */
export async function wireHttp(situation: Situation): Promise<{
  /** The interface that the transport passes requests to. */
  readonly http: HttpInterface;
  /** The keys that its authenticator accepts or, where their name says so, refuses. */
  readonly keys: HttpKeys;
  /** Resolves when a faulty store is used for the first time. */
  readonly used: Promise<void>;
}> {
  const { settings, maxInFlight, store: fault }: SituationSetup = SITUATIONS[situation];
  const { promise: used, resolve: onCall } = Promise.withResolvers<void>();
  const { apiKeys, ...store } = openMemoryStore();
  const { pets, changes, check } = fault ? ailingStore(fault, onCall) : store;
  const http = new HttpInterface({
    animalStore: createAnimalStore({ pets, changes }),
    authenticator: new ApiKeyAuthenticator({ staticKeys: Object.values(STATIC_KEYS), apiKeys }),
    readiness: new Readiness((call) => check(call)),
    settings,
    admission: new AdmissionControl({ maxInFlight }),
    docs: await readDocsFiles(),
  });
  return { http, keys: await issueKeys(apiKeys), used };
}

/** A store of animals with a fault. `onCall` is called when it is used. */
export function ailingStore(
  fault: StoreFault,
  onCall: () => void,
): Pick<CompleteStore, 'pets' | 'changes' | 'check'> {
  const fails = async (): Promise<never> => {
    onCall();
    if (fault === 'unreachable')
      throw new UnavailableError('a secret of the inside', { retryAfter: 7 });
    if (fault === 'undecided') throw new IdempotencyConflictError({ retryAfter: 3 });
    if (fault === 'faulty') throw new TypeError('a secret of the inside');
    return new Promise(() => {});
  };
  return {
    pets: { add: fails, addOnce: fails, findById: fails, list: fails },
    changes: { change: fails, remove: fails },
    check: fault === 'occupied' ? async () => {} : fails,
  };
}

const HOUR = 60 * 60 * 1000;

/** Keys for the settings of a service, with every scope. */
export const STATIC_KEYS = { key: 'static-key-0123456789', secondKey: 'a+b/c~d.e_f-0123456789==' };

/** The static keys, and managed keys that are issued in this store. */
export async function issueKeys(apiKeys: ApiKeyRepository): Promise<HttpKeys> {
  const managed = new ManagedApiKeys({ apiKeys, generate: apiKeyGenerator() });
  const issue = async (name: string, scopes: readonly Scope[] = SCOPES): Promise<string> =>
    (await managed.issue({ name, scopes })).key;
  const anHourAgo = new ManagedApiKeys({
    apiKeys,
    generate: apiKeyGenerator(),
    clock: { now: () => new Date(Date.now() - HOUR) },
  });
  const expired = await anHourAgo.issue({
    name: 'expired',
    scopes: SCOPES,
    expiresAt: new Date(Date.now() - 1),
  });
  const revoked = await managed.issue({ name: 'revoked', scopes: SCOPES });
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
