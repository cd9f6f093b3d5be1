import type { HttpSettings } from '../../../src/adapters/http/http-settings.js';

/** How a service can be set up: the settings that differ from the defaults, and what is wrong with its store. */
export interface SituationSetup {
  /** Settings of the HTTP interface; the others have their defaults. */
  readonly settings?: Partial<HttpSettings>;
  /** What the store of animals does when it is used; where nothing is said it is well. */
  readonly store?: StoreFault;
}

/**
 * `away`: it cannot be reached, and is to be asked again in 7 seconds. `faulty`: it throws what nobody expected.
 * `undecided`: an earlier create with the same key is not decided; to be asked again in 3 seconds. `stuck`: it
 * never answers. `occupied`: never either, and one request is waiting for it when the first case comes.
 */
export type StoreFault = 'away' | 'faulty' | 'undecided' | 'stuck' | 'occupied';

/**
 * The ways a service is set up for the HTTP contract, by name; no setting differs from its default but those
 * here.
 */
export const SITUATIONS = {
  plain: {},
  publicUrl: { settings: { publicUrl: 'https://animals.example/shop/v1' } },
  otherBasePath: { settings: { basePath: '/animals/v1' } },
  smallBodies: { settings: { bodyLimit: 100 } },
  deprecatedLater: { settings: { deprecatedSince: new Date('2029-02-28') } },
  getPetOff: { settings: { getPet: 'off' } },
  storeAway: { store: 'away' },
  storeFaulty: { store: 'faulty' },
  storeUndecided: { store: 'undecided' },
  storeStuck: { settings: { requestDeadline: 50 }, store: 'stuck' },
  /** Pages of two origins may use the service. */
  twoOrigins: { settings: { corsOrigins: ['https://one.example', 'http://localhost:5173'] } },
  /** Pages of any origin may. */
  anyOrigin: { settings: { corsOrigins: ['*'] } },
  /** One request is being worked on, and more are not allowed at once. */
  busy: { settings: { maxInFlight: 1, requestDeadline: 60_000 }, store: 'occupied' },
} as const satisfies Record<string, SituationSetup>;

/** Names one of `SITUATIONS`. */
export type Situation = keyof typeof SITUATIONS;

/** A situation's settings as the environment of a service that is started by itself. */
export function environmentOf(situation: Situation): Readonly<Record<string, string>> {
  const { settings = {} }: SituationSetup = SITUATIONS[situation];
  const { publicUrl, basePath, bodyLimit, deprecatedSince, getPet, requestDeadline } = settings;
  const { maxInFlight, corsOrigins } = settings;
  return {
    ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }),
    ...(basePath !== undefined && { BASE_PATH: basePath }),
    ...(bodyLimit !== undefined && { BODY_LIMIT: `${bodyLimit}b` }),
    ...(deprecatedSince && { DEPRECATED_SINCE: deprecatedSince.toISOString().slice(0, 10) }),
    ...(getPet && { GET_PET: getPet }),
    ...(requestDeadline !== undefined && { REQUEST_DEADLINE: `${requestDeadline}ms` }),
    ...(maxInFlight !== undefined && { MAX_IN_FLIGHT: String(maxInFlight) }),
    ...(corsOrigins && { CORS_ORIGINS: corsOrigins.join(',') }),
  };
}
