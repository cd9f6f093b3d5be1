import type {
  AnimalStore,
  ExperimentalAnimalStore,
} from '../../../src/application/animal-store.js';
import type { Pet } from '../../../src/domain/pet.js';
import assert from 'node:assert/strict';
import { petInTurn, times } from '../samples.js';
import { byId } from '../stored-animals.js';
import type { Cases } from '../suite.js';

/** What the cases get: an empty animal store, and its experimental operations. */
export interface AnimalStoreSubject extends Pick<
  ExperimentalAnimalStore,
  'changePet' | 'removePet'
> {
  readonly animalStore: AnimalStore;
  readonly close: () => Promise<void>;
}

export type AnimalStoreCases = Cases<AnimalStoreSubject>;

/** Adds `count` animals simultaneously, their statuses in turn; resolves to them in ascending order of id. */
export async function createMany(animalStore: AnimalStore, count: number): Promise<readonly Pet[]> {
  const creating = times(count, (number) =>
    animalStore.createPet({ ...petInTurn(number), name: `Pet ${number}`, categoryId: number }),
  );
  return (await Promise.all(creating)).map(({ pet }) => pet).sort(byId);
}

/** The id as a number if that is exact. A store may assign any positive int64. */
export const numberIfSafe = (id: bigint): bigint | number =>
  id <= Number.MAX_SAFE_INTEGER ? Number(id) : id;

/** Checks that the message of an error names each of these. */
export function checkNames(error: Error, ...names: readonly string[]): void {
  for (const name of names) assert.match(error.message, new RegExp(`\\b${name}\\b`));
}

/** Each value of each field, as a caller without a compiler can give it. */
export const valuesOf = (fields: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(fields).flatMap(([field, values]) =>
    values.map((value) => ({
      field,
      given: { [field]: value },
      about: `${field} ${String(value)}`,
    })),
  );
