import { strict as assert } from 'node:assert';
import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { Pet, UnsavedPet } from '../../../src/domain/pet.js';
import type { ContractCase, Subject } from '../contract.js';

/** An empty store to hold to the contract. */
export interface PetRepositorySubject extends Subject {
  readonly pets: PetRepository;
  /** Closes `pets` and opens the same store again. Required of a store that declares itself durable. */
  readonly reopen?: () => Promise<PetRepository>;
  /** One more handle on the same store, as another process has it. Required of one that declares itself shared. */
  readonly another?: () => Promise<PetRepository>;
}

export type PetRepositoryCase = ContractCase<PetRepositorySubject>;

export async function reopened(subject: PetRepositorySubject): Promise<PetRepository> {
  assert.ok(subject.reopen, 'a store that declares itself durable needs a subject with `reopen`');
  return subject.reopen();
}

export async function anotherHandle(subject: PetRepositorySubject): Promise<PetRepository> {
  assert.ok(subject.another, 'a store that declares itself shared needs a subject with `another`');
  return subject.another();
}

/** Adds the animals all at once; resolves to what was kept, ascending by id. */
export async function addAll(pets: PetRepository, animals: readonly UnsavedPet[]): Promise<readonly Pet[]> {
  const added = await Promise.all(animals.map((animal) => pets.add(animal)));
  return added.map(({ pet }) => pet).sort(byId);
}

export const byId = (one: Pet, other: Pet): number => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

/** Everything in a store that holds no more than a few hundred animals. */
export const listAll = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 1000 });
