import type { ServiceIdentifier } from 'inversify';
import type { RequestListener } from 'node:http';
import type { DeprecatedCall, HttpInterface } from '../adapters/http/http-interface.js';
import type { HttpLog } from '../adapters/http/http-log.js';
import type { Readiness } from '../adapters/http/health.js';
import type { AnimalStore } from '../application/animal-store.js';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.js';
import type { Authenticator } from '../application/ports/authenticator.js';
import type { Clock } from '../application/ports/clock.js';
import type { PetRepository } from '../application/ports/pet-repository.js';
import type { Store, StoreFactory } from '../application/ports/store.js';
import type { Settings } from './settings.js';

declare const provided: unique symbol;

/** Names a dependency, and says its type: what is bound to it and what is got by it must be a `T`. */
export type Token<T> = ServiceIdentifier<T> & symbol & { readonly [provided]: T };

/** The same name gives the same token, so that adapters built against another copy of this package fit. */
export const token = <T>(name: string): Token<T> => Symbol.for(`animal-store.${name}`) as Token<T>;

/** Everything that can be bound, and so replaced. */
export const TOKENS = {
  settings: token<Settings>('Settings'),
  clock: token<Clock>('Clock'),
  httpLog: token<HttpLog>('HttpLog'),
  /** Several may be bound: `STORE_URL` chooses by scheme. */
  storeFactory: token<StoreFactory>('StoreFactory'),
  /** What stores tell whoever runs them, a line at a time. */
  storeNotices: token<(line: string) => void>('StoreNotices'),
  store: token<Store>('Store'),
  petRepository: token<PetRepository>('PetRepository'),
  /** Bound to `undefined` where the store keeps no keys. */
  apiKeyRepository: token<ApiKeyRepository | undefined>('ApiKeyRepository'),
  onDeprecatedCall: token<(call: DeprecatedCall) => void>('OnDeprecatedCall'),
  authenticator: token<Authenticator>('Authenticator'),
  animalStore: token<AnimalStore>('AnimalStore'),
  readiness: token<Readiness>('Readiness'),
  httpInterface: token<HttpInterface>('HttpInterface'),
  /** The transport. */
  requestListener: token<RequestListener>('RequestListener'),
} as const;
