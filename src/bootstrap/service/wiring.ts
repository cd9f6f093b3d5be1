import type {
  BindToFluentSyntax,
  Container,
  ContainerModuleLoadOptions,
  ResolutionContext,
  ServiceIdentifier,
} from 'inversify';

/*
 * Inversify checks neither the order nor the types of a factory's arguments. The functions here do: a swapped
 * dependency does not compile. They need no decorators; `reflect-metadata` is a dependency only because Inversify
 * requires it.
 */

declare const provided: unique symbol;

/** Names a dependency and carries its type. */
export type Token<T> = ServiceIdentifier<T> & { readonly [provided]: T };

/** Makes a token. The same name gives the same token, even in two copies of this package. */
export const token = <T>(name: string): Token<T> =>
  Symbol.for(`animal-store.${name}`) as unknown as Token<T>;

/** As a dependency: everything that is bound to the token, in the order of binding. */
export const every = <T>(token: Token<T>): Token<readonly T[]> =>
  ({ serviceIdentifier: token, isMultiple: true }) as unknown as Token<readonly T[]>;

/** Where to bind: a Container, or the options that Inversify passes to a ContainerModule. */
export type Bindings =
  Pick<ContainerModuleLoadOptions, 'bind' | 'rebind' | 'onActivation'> | Container;

/** Binds a token to a value, or to what `make` returns for the dependencies when the token is first needed. */
export interface Bind {
  <T>(to: Bindings, token: Token<T>, value: NoInfer<T>): void;
  <T, Dependencies extends unknown[]>(
    to: Bindings,
    token: Token<T>,
    dependencies: { readonly [K in keyof Dependencies]: Token<Dependencies[K]> },
    make: (...dependencies: Dependencies) => NoInfer<T> | Promise<NoInfer<T>>,
  ): void;
}

/** Binds a token that is not bound yet, or of which there may be several, such as `TOKENS.storeFactory`. */
export const add: Bind = <T>(to: Bindings, token: Token<T>, ...source: Source): void =>
  bindTo(to.bind<T>(token), source);

/** Binds a token in place of everything that is bound to it, decorators included. */
export const replace: Bind = <T>(to: Bindings, token: Token<T>, ...source: Source): void =>
  bindTo(to.rebind<T>(token), source);

/**
 * Wraps what is bound to a token: what `make` returns for it takes its place. `make` gets its own dependencies from the
 * context. Decorators compose: each gets what the one before returned. Call it before the token is first needed.
 */
export const decorate = <T>(
  to: Bindings,
  decorated: Token<T>,
  make: (inner: T, context: ResolutionContext) => NoInfer<T> | Promise<NoInfer<T>>,
): void => to.onActivation<T>(decorated, (context, inner) => make(inner, context));

type Source = readonly [value: unknown] | readonly [dependencies: unknown, make: unknown];

function bindTo(binding: BindToFluentSyntax<unknown>, source: Source): void {
  const [value, make] = source;
  if (source.length === 1) binding.toConstantValue(value);
  else
    binding.toResolvedValue(make as () => unknown, [...(value as [])] as never).inSingletonScope();
}
