import { assert } from './assert.js';
import type { Capability } from './contract.js';

/** The ways to a store beyond the handle that a subject has on it. */
export interface MoreHandles<Handle> {
  /** Closes the subject's handle and opens the same store again. Required of a store that declares itself durable. */
  readonly reopen?: (() => Promise<Handle>) | undefined;
  /** One more handle on the same store, as another process has it. Required of one that declares itself shared. */
  readonly another?: (() => Promise<Handle>) | undefined;
}

type Declared<S> = Capability<S>['isDeclared'];

/** Everything answered survives the end of the process. */
export const durable = <S extends MoreHandles<unknown>>(isDeclared: Declared<S>): Capability<S> => ({
  name: 'durable',
  isDeclared,
  canBeTried: ({ reopen }) => reopen !== undefined,
});

/** Several processes may use the same store at the same time. */
export const shared = <S extends MoreHandles<unknown>>(isDeclared: Declared<S>): Capability<S> => ({
  name: 'shared',
  isDeclared,
  canBeTried: ({ another }) => another !== undefined,
});

export async function reopened<Handle>({ reopen }: MoreHandles<Handle>): Promise<Handle> {
  assert.ok(reopen, 'a store that declares itself durable needs a subject with `reopen`');
  return reopen();
}

export async function anotherHandle<Handle>({ another }: MoreHandles<Handle>): Promise<Handle> {
  assert.ok(another, 'a store that declares itself shared needs a subject with `another`');
  return another();
}
