import type { PetRepository, PetRepositoryCapabilities } from '../../src/application/ports/pet-repository.js';
import type { Store } from '../../src/application/ports/store.js';
import type { Pet, UnsavedPet } from '../../src/domain/pet.js';
import { assert } from './assert.js';
import type { ContractCase, Subject } from './contract.js';

/** The ports of an open store. */
export type StorePorts = Pick<Store, 'pets' | 'apiKeys' | 'transfer'>;

/** An open, empty store: the subject of the contracts of all its ports. */
export interface StoreSubject extends Subject, StorePorts {
  /** Closes this handle and opens the same store again. Required of a store that declares itself durable. */
  readonly reopen?: (() => Promise<StorePorts>) | undefined;
  /** Opens one more handle, as another process does. Required of a store that declares itself shared. */
  readonly another?: (() => Promise<StorePorts>) | undefined;
}

export type StoreCase = ContractCase<StoreSubject>;

/** For `unless`: a case about what only some stores can do, and declare. */
const undeclared =
  (capability: keyof PetRepositoryCapabilities) =>
  ({ pets }: StoreSubject): string | undefined =>
    pets.capabilities[capability] ? undefined : `the adapter does not declare itself ${capability}`;

export const notDurable = undeclared('durable');
export const notShared = undeclared('shared');
export const notOrdered = undeclared('ordered');

export async function reopened({ reopen }: StoreSubject): Promise<StorePorts> {
  assert.ok(reopen, 'the subject of a durable store needs `reopen`');
  return reopen();
}

export async function anotherHandle({ another }: StoreSubject): Promise<StorePorts> {
  assert.ok(another, 'the subject of a shared store needs `another`');
  return another();
}

/** The port, which the case needs. */
export function required<Port>(port: Port | undefined): Port {
  assert.ok(port, 'a further handle lacks a port that the first one had');
  return port;
}

/** Adds the animals simultaneously; resolves to them as stored, in ascending order of id. */
export async function addAll(pets: PetRepository, animals: readonly UnsavedPet[]): Promise<readonly Pet[]> {
  const added = await Promise.all(animals.map((animal) => pets.add(animal)));
  return added.map(({ pet }) => pet).sort(byId);
}

export const byId = (one: Pet, other: Pet): number => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

/** Every animal of a store that holds a few hundred at most. */
export const listAll = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 1000 });
