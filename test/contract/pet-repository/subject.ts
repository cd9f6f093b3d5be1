import type { PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { Pet, UnsavedPet } from '../../../src/domain/pet.js';
import type { ContractCase, Subject } from '../contract.js';
import { durable, shared, type MoreHandles } from '../handles.js';

/** An empty store to hold to the contract. */
export interface PetRepositorySubject extends Subject, MoreHandles<PetRepository> {
  /** The repository itself. */
  readonly pets: PetRepository;
}

export type PetRepositoryCase = ContractCase<PetRepositorySubject>;

export const DURABLE = durable<PetRepositorySubject>(({ pets }) => pets.capabilities.durable);
export const SHARED = shared<PetRepositorySubject>(({ pets }) => pets.capabilities.shared);

/** Adds the animals all at once; resolves to what was kept, ascending by id. */
export async function addAll(pets: PetRepository, animals: readonly UnsavedPet[]): Promise<readonly Pet[]> {
  const added = await Promise.all(animals.map((animal) => pets.add(animal)));
  return added.map(({ pet }) => pet).sort(byId);
}

export const byId = (one: Pet, other: Pet): number => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

/** Everything in a store that holds no more than a few hundred animals. */
export const listAll = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 1000 });
