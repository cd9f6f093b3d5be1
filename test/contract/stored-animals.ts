import type { PetRepository } from '../../src/application/ports/pet-repository.js';
import type { Pet, UnsavedPet } from '../../src/domain/pet.js';
import { PET_STATUSES } from '../../src/domain/pet-status.js';
import assert from 'node:assert/strict';

/** Adds the animals simultaneously; resolves to them as stored, in ascending order of id. */
export async function addAll(
  pets: PetRepository,
  animals: readonly UnsavedPet[],
): Promise<readonly Pet[]> {
  const added = await Promise.all(animals.map((animal) => pets.add(animal)));
  return added.sort(byId);
}

/** For `sort`. Ids differ. */
export const byId = (one: Pet, other: Pet): number => (one.id < other.id ? -1 : 1);

/** Every animal of a store that holds a few hundred at most. */
export const listAll = (pets: PetRepository): Promise<readonly Pet[]> => pets.list({ limit: 1000 });

/** Checks every way of reading. */
export async function checkReads(
  pets: PetRepository,
  stored: readonly Pet[],
  removed: readonly Pet[] = [],
): Promise<void> {
  assert.deepEqual(await listAll(pets), stored, 'the list of all');
  for (const status of PET_STATUSES) {
    const expected = stored.filter((pet) => pet.status === status);
    assert.deepEqual(await pets.list({ limit: 1000, status }), expected, `what is ${status}`);
  }
  for (const pet of stored) assert.deepEqual(await pets.findById(pet.id), pet);
  for (const { id } of removed) assert.equal(await pets.findById(id), undefined, `removed: ${id}`);
}
