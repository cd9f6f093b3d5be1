import type { AnimalStore, CreatedPet, PetQuery } from '../../../src/application/animal-store.js';
import type { NewPet, Pet } from '../../../src/domain/pet.js';
import { PET_STATUSES } from '../../../src/domain/pet-status.js';
import assert from 'node:assert/strict';
import { optionalPart, type ContractCase, type OptionalPart, type Subject } from '../contract.js';
import { times } from '../samples.js';

/** An empty animal store: the subject of its contract. */
export interface AnimalStoreSubject extends Subject {
  /** The animal store itself. */
  readonly animalStore: AnimalStore;
  /** The caller's identity is the scope of idempotency keys, as over HTTP. Default: the call names the scope. */
  readonly scopeOfCaller?: boolean;
}

export type Run = ContractCase<AnimalStoreSubject>['run'];

/** What only some animal stores have. */
export const PARTS = {
  claims: optionalPart('claims', ({ animalStore }) => animalStore.keepsIdempotencyKeys !== false),
  scopes: optionalPart('scopes', ({ scopeOfCaller }) => scopeOfCaller !== true),
  changes: optionalPart(
    'changes',
    ({ animalStore }) => 'changePet' in animalStore && 'removePet' in animalStore,
  ),
} satisfies Readonly<Record<string, OptionalPart<AnimalStoreSubject>>>;

/** The operations as a caller without a compiler can call them. */
export interface UntypedAnimalStore {
  listPets(query: unknown): Promise<unknown>;
  createPet(pet: unknown, call?: unknown): Promise<CreatedPet>;
  getPet(id: unknown): Promise<unknown>;
}

export const untyped = (animalStore: AnimalStore): UntypedAnimalStore => animalStore;

/** Makes `count` animals to add, their statuses in turn. */
export const newPets = (count: number): readonly NewPet[] =>
  times(count, (number) => ({
    name: `Pet ${number}`,
    categoryId: number,
    status: PET_STATUSES[number % 3],
  }));

/** Adds the animals simultaneously; resolves to them as created, in ascending order of id. */
export async function createAll(
  animalStore: AnimalStore,
  animals: readonly NewPet[],
): Promise<readonly Pet[]> {
  const created = await Promise.all(animals.map((animal) => animalStore.createPet(animal)));
  return created.map(({ pet }) => pet).sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Every page of a list, from the first to the one without `next`. */
export async function pagesOf(
  animalStore: AnimalStore,
  query: PetQuery,
): Promise<readonly (readonly Pet[])[]> {
  const pages: (readonly Pet[])[] = [];
  let after: bigint | undefined;
  do {
    const page = await animalStore.listPets({ ...query, after });
    if (page.next !== undefined) {
      assert.equal(page.next, page.pets.at(-1)?.id, 'next is not the last id');
      const makesProgress = after === undefined || page.next > after;
      assert.ok(makesProgress, `the page after ${after} ends with ${page.next}`);
    }
    pages.push(page.pets);
    after = page.next;
  } while (after !== undefined);
  return pages;
}
