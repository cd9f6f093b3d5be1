import type { ServiceIdentifier } from 'inversify';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type { Admission } from '../../adapters/http/admission.js';
import type { HttpInterface, HttpLog, Readiness } from '../../adapters/http/index.js';
import type { AnimalStore, Authenticator, Clock, Store, StoreFactory } from '../../index.js';
import type { Settings } from './settings.js';

declare const bound: unique symbol;

/** The name of a part of the service, with the type of the part: binding another type does not compile. */
export type Token<T> = ServiceIdentifier<T> & { readonly [bound]: T };

/** Makes a token. The same name gives the same token, even in two copies of this package. */
const token = <T>(name: string): Token<T> =>
  Symbol.for(`animal-store.${name}`) as unknown as Token<T>;

/** What can be replaced (`rebind`) or decorated (`onActivation`) in the container of the service. */
export const TOKENS = {
  settings: token<Settings>('settings'),
  clock: token<Clock>('clock'),
  /** `serve` binds it. Elsewhere nothing is logged. */
  logger: token<Logger>('logger'),
  /** There may be several: see `openStore`. */
  storeFactory: token<StoreFactory>('storeFactory'),
  store: token<Store>('store'),
  animalStore: token<AnimalStore>('animalStore'),
  authenticator: token<Authenticator>('authenticator'),
  httpLog: token<HttpLog>('httpLog'),
  readiness: token<Readiness>('readiness'),
  /** Bounds the requests in progress. */
  admission: token<Admission & { readonly inFlight: number }>('admission'),
  httpInterface: token<HttpInterface>('httpInterface'),
  requestListener: token<(...exchange: Parameters<RequestListener>) => unknown>('requestListener'),
} as const;
