import type { ContainerModuleLoadOptions } from 'inversify';
import type { Token } from './tokens.js';

/*
 * Inversify checks neither the order nor the types of what a factory is given. These functions do, so that a
 * swapped dependency does not compile. No decorators are needed for it; `reflect-metadata` is a dependency
 * only because Inversify asks for it.
 */

/** What is needed of what Inversify hands to a `ContainerModule`, to bind by. */
export type Bind = Pick<ContainerModuleLoadOptions, 'bind'>;
/**
 * The tokens of some dependencies, in their order: each of its dependency's type, so that a wrong one does
 * not compile.
 */
export type TokensOf<Dependencies extends readonly unknown[]> = {
  readonly [K in keyof Dependencies]: Token<Dependencies[K]>;
};

/** Binds `token` to what `make` makes of the dependencies, once, when it is first asked for. */
export function provide<T, Dependencies extends unknown[]>(
  { bind }: Bind,
  token: Token<T>,
  dependencies: TokensOf<Dependencies>,
  make: (...dependencies: Dependencies) => T | Promise<T>,
): void {
  bind<T>(token)
    .toResolvedValue(make as (...values: unknown[]) => T | Promise<T>, [...dependencies] as never)
    .inSingletonScope();
}

/** Stands, as a dependency, for all that is bound to the token, in the order of binding. */
export const every = <T>(token: Token<T>): Token<readonly T[]> =>
  ({ serviceIdentifier: token, isMultiple: true }) as unknown as Token<readonly T[]>;

/** Binds `token` to a value that exists already. */
export function provideValue<T>({ bind }: Bind, token: Token<T>, value: T): void {
  bind<T>(token).toConstantValue(value);
}
