import type { BindToFluentSyntax, Container, ContainerModuleLoadOptions, ServiceIdentifier } from 'inversify';

/*
 * Inversify checks neither the order nor the types of a factory's arguments. The functions here do: a swapped
 * dependency does not compile. They need no decorators; `reflect-metadata` is a dependency only because Inversify
 * requires it.
 */

declare const provided: unique symbol;

/** Names a dependency and carries its type. */
export type Token<T> = ServiceIdentifier<T> & { readonly [provided]: T };

/** Makes a token. The same name gives the same token, even in two copies of this package. */
export const token = <T>(name: string): Token<T> => Symbol.for(`animal-store.${name}`) as unknown as Token<T>;

/** As a dependency: everything that is bound to the token, in the order of binding. */
export const every = <T>(token: Token<T>): Token<readonly T[]> =>
  ({ serviceIdentifier: token, isMultiple: true }) as unknown as Token<readonly T[]>;

/** One token for each dependency, in the same order. */
export type TokensOf<Dependencies extends readonly unknown[]> = {
  readonly [K in keyof Dependencies]: Token<Dependencies[K]>;
};

/** Where to bind: a Container, or the options that Inversify passes to a ContainerModule. */
export type Bindings = Pick<ContainerModuleLoadOptions, 'bind' | 'rebind' | 'onActivation'> | Container;

/** Binds a token to a value, or to what `make` returns for its dependencies when the token is first needed. */
export interface Bind {
  <T>(to: Bindings, token: Token<T>, value: NoInfer<T>): void;
  <T, Dependencies extends unknown[]>(
    to: Bindings,
    token: Token<T>,
    dependencies: TokensOf<Dependencies>,
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
 * Wraps what is bound to a token: `make` gets it, then its own dependencies, and returns what takes its place.
 * Decorators compose: each gets what the one before returned. Call it before the token is first needed.
 */
export function decorate<T, Dependencies extends unknown[]>(
  to: Bindings,
  decorated: Token<T>,
  dependencies: TokensOf<Dependencies>,
  make: (inner: T, ...dependencies: Dependencies) => NoInfer<T> | Promise<NoInfer<T>>,
): void {
  const values = token<Dependencies>(`dependencies of decorator ${crypto.randomUUID()}`);
  add(to, values, dependencies, (...resolved) => resolved);
  to.onActivation<T>(decorated, (context, inner) =>
    // Without dependencies nothing is awaited, so that `container.get` still works.
    dependencies.length === 0
      ? make(inner, ...([] as unknown as Dependencies))
      : context.getAsync(values).then((resolved) => make(inner, ...resolved)),
  );
}

type Source = readonly [value: unknown] | readonly [dependencies: unknown, make: unknown];

function bindTo(binding: BindToFluentSyntax<unknown>, source: Source): void {
  const [value, make] = source;
  if (source.length === 1) binding.toConstantValue(value);
  else binding.toResolvedValue(make as () => unknown, [...(value as [])] as never).inSingletonScope();
}
