import type {
  Container,
  ContainerModule,
  ContainerModuleLoadOptions,
  ResolutionContext,
  ServiceIdentifier,
} from 'inversify';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import type * as http from '../../adapters/http/index.js';
import type { AdmissionControl } from '../../adapters/http/node/admission-control.js';
import type { ManagedApiKeys } from '../../application/manage-api-keys.js';
import type * as core from '../../index.js';
import type { Settings } from './settings.js';

/*
 * No adapter needs decorators; `reflect-metadata` is a dependency only because Inversify requires it.
 */

declare const bound: unique symbol;

/** Names what is bound and carries its type, so that something else in its place does not compile. */
export type Token<T> = ServiceIdentifier<T> & { readonly [bound]: T };

/** Makes a token. The same name gives the same token, even in two copies of this package. */
export function token<T>(name: string): Token<T> {
  return Symbol.for(`animal-store.${name}`) as unknown as Token<T>;
}

/** Everything that is bound, and can be replaced or decorated. */
export const TOKENS = {
  settings: token<Settings>('Settings'),
  clock: token<core.Clock>('Clock'),
  /** There may be several: `STORE_URL` chooses by scheme. */
  storeFactory: token<core.StoreFactory>('StoreFactory'),
  openOptions: token<core.OpenOptions>('OpenOptions'),
  store: token<core.Store>('Store'),
  petRepository: token<core.PetRepository>('PetRepository'),
  /** `undefined` if the animals of the store cannot be changed. */
  petChanges: token<core.PetChanges | undefined>('PetChanges'),
  /** These two are `undefined` if the store keeps no keys. */
  apiKeyRepository: token<core.ApiKeyRepository | undefined>('ApiKeyRepository'),
  managedApiKeys: token<ManagedApiKeys | undefined>('ManagedApiKeys'),
  animalStore: token<core.AnimalStore>('AnimalStore'),
  authenticator: token<core.Authenticator>('Authenticator'),
  readiness: token<http.Readiness>('Readiness'),
  /** `undefined`, so that nothing is logged, unless an adapter replaces it, as `serve` does. */
  logger: token<Logger | undefined>('Logger'),
  httpLog: token<http.HttpLog>('HttpLog'),
  /** `undefined` if requests are not limited. */
  rateLimiter: token<http.RateLimiter | undefined>('RateLimiter'),
  admission: token<AdmissionControl>('AdmissionControl'),
  /** The files of the docs page. `undefined`: there is none. */
  docs: token<readonly http.DocsFile[] | undefined>('Docs'),
  httpInterface: token<http.HttpInterface>('HttpInterface'),
  requestListener: token<RequestListener>('RequestListener'),
} as const;

type BindValue = <T>(token: Token<T>, value: NoInfer<T>) => void;

type BindFactory = <T>(
  token: Token<T>,
  make: (context: ResolutionContext) => NoInfer<T> | Promise<NoInfer<T>>,
) => void;

/** What adapters bind with. */
export interface Wiring {
  readonly TOKENS: typeof TOKENS;
  /** Binds a token that is not bound yet, or of which there may be several, such as `TOKENS.storeFactory`. */
  readonly bind: BindValue;
  /** Binds a token to what `make` returns. It is called once, when the token is first needed, and gets its parts from the context. */
  readonly bindFrom: BindFactory;
  /** Binds a token in place of everything that is bound to it, decorators included. */
  readonly replace: BindValue;
  /** As `bindFrom`, in place of everything that is bound to the token. */
  readonly replaceFrom: BindFactory;
  /**
   * Wraps what is bound to a token: what `make` returns for it takes its place. Decorators compose: each gets what the
   * one before returned. Call it before the token is first needed.
   */
  readonly decorate: <T>(
    token: Token<T>,
    make: (inner: T, context: ResolutionContext) => NoInfer<T> | Promise<NoInfer<T>>,
  ) => void;
}

/** Changes what is plugged into what: a function, which needs no package, or a module of Inversify. */
export type Adapter = ((wiring: Wiring) => void | Promise<void>) | ContainerModule;

/** Binds in a container, or by the options that Inversify passes to a `ContainerModule`. */
export function wiring(
  to: Container | Pick<ContainerModuleLoadOptions, 'bind' | 'rebind' | 'onActivation'>,
): Wiring {
  return {
    TOKENS,
    bind(target, value) {
      to.bind<unknown>(requireToken(target)).toConstantValue(value);
    },
    bindFrom(target, make) {
      to.bind<unknown>(requireToken(target)).toDynamicValue(make).inSingletonScope();
    },
    replace(target, value) {
      to.rebind<unknown>(requireToken(target)).toConstantValue(value);
    },
    replaceFrom(target, make) {
      to.rebind<unknown>(requireToken(target)).toDynamicValue(make).inSingletonScope();
    },
    decorate(target, make) {
      to.onActivation(requireToken(target), (context, inner) => make(inner, context));
    },
  };
}

/** A misspelled member of `TOKENS` is `undefined`: what is bound to that, nothing ever asks for. */
function requireToken<T>(target: Token<T> | undefined): Token<T> {
  if (target !== undefined) return target;
  throw new TypeError(`There is no such token. TOKENS has ${Object.keys(TOKENS).join(', ')}`);
}
