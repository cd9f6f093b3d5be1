import type {
  BindToFluentSyntax,
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
 * Inversify checks neither the order nor the types of a factory's arguments. The functions here do: a swapped
 * dependency does not compile. They need no decorators; `reflect-metadata` is a dependency only because Inversify
 * requires it.
 */

declare const provided: unique symbol;

/** What a factory can be given. */
export interface Dependency<T> {
  readonly [provided]: T;
}

/** Names a dependency and carries its type. */
export type Token<T> = ServiceIdentifier<T> & Dependency<T>;

/** Everything that is bound to a token: a dependency of factories, which no container resolves by itself. */
export interface AllOf<T> extends Dependency<readonly T[]> {
  readonly serviceIdentifier: Token<T>;
  readonly isMultiple: true;
}

/** Makes a token. The same name gives the same token, even in two copies of this package. */
export function token<T>(name: string): Token<T> {
  return Symbol.for(`animal-store.${name}`) as unknown as Token<T>;
}

/** As a dependency: everything that is bound to the token, in the order of binding. */
export function allOf<T>(serviceIdentifier: Token<T>): AllOf<T> {
  return { serviceIdentifier, isMultiple: true } as AllOf<T>;
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

/** Binds a token to a value. */
export type Bind = <T>(token: Token<T>, value: NoInfer<T>) => void;

/** Binds a token to what `make` returns for the dependencies. It is called once, when the token is first needed. */
export type BindFrom = <T, Dependencies extends unknown[]>(
  token: Token<T>,
  dependencies: { readonly [K in keyof Dependencies]: Dependency<Dependencies[K]> },
  make: (...dependencies: Dependencies) => NoInfer<T> | Promise<NoInfer<T>>,
) => void;

/** What adapters bind with. */
export interface Wiring {
  readonly TOKENS: typeof TOKENS;
  /** Binds a token that is not bound yet, or of which there may be several, such as `TOKENS.storeFactory`. */
  readonly bind: Bind;
  readonly bindFrom: BindFrom;
  /** Binds a token in place of everything that is bound to it, decorators included. */
  readonly replace: Bind;
  readonly replaceFrom: BindFrom;
  /**
   * Wraps what is bound to a token: what `make` returns for it takes its place. `make` gets its own dependencies from
   * the context. Decorators compose: each gets what the one before returned. Call it before the token is first needed.
   */
  readonly decorate: <T>(
    token: Token<T>,
    make: (inner: T, context: ResolutionContext) => NoInfer<T> | Promise<NoInfer<T>>,
  ) => void;
}

/** Changes what is plugged into what: a function, which needs no package, or a module of Inversify. */
export type Adapter = ((wiring: Wiring) => void | Promise<void>) | ContainerModule;

/** Inversify takes any function with any dependencies: `BindFrom` has checked them. */
function bindTo(binding: BindToFluentSyntax<unknown>, dependencies: unknown, make: unknown): void {
  binding.toResolvedValue(make as () => unknown, dependencies as never).inSingletonScope();
}

/** Binds in a container, or by the options that Inversify passes to a `ContainerModule`. */
export function wiring(
  to: Container | Pick<ContainerModuleLoadOptions, 'bind' | 'rebind' | 'onActivation'>,
): Wiring {
  return {
    TOKENS,
    bind(target, value) {
      to.bind<unknown>(target).toConstantValue(value);
    },
    bindFrom(target, dependencies, make) {
      bindTo(to.bind(target), dependencies, make);
    },
    replace(target, value) {
      to.rebind<unknown>(target).toConstantValue(value);
    },
    replaceFrom(target, dependencies, make) {
      bindTo(to.rebind(target), dependencies, make);
    },
    decorate(target, make) {
      to.onActivation(target, (context, inner) => make(inner, context));
    },
  };
}
