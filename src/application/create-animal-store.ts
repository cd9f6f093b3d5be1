import { PetNotFoundError } from '../domain/errors.js';
import { fingerprintOf, petChange, unsavedPet } from '../domain/pet.js';
import type { AnimalStore, ExperimentalAnimalStore } from './animal-store.js';
import {
  requireIdempotencyKey,
  requirePetId,
  requirePetQuery,
  requireValidFrom,
} from './call-rules.js';
import { systemClock, type Clock } from './ports/clock.js';
import type { PetChanges } from './ports/pet-changes.js';
import type { PetRepository } from './ports/pet-repository.js';

/** Dependencies of an animal store. */
export interface AnimalStoreDependencies {
  /** Where animals are stored: an adapter of this package, or your own. */
  readonly pets: PetRepository;
  /** Changes and removes animals of the same store. Default: they cannot be changed or removed. */
  readonly changes?: PetChanges | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** How long a create can be retried by its key, in milliseconds: 24 hours. */
const CLAIM_LIFETIME = 24 * 60 * 60 * 1000;

/**
 * Makes an animal store on any repository. With `changes`, animals can be changed and removed. The caller opens and
 * closes the store.
 */
export function createAnimalStore(
  dependencies: AnimalStoreDependencies & { readonly changes: PetChanges },
): ExperimentalAnimalStore;
export function createAnimalStore(dependencies: AnimalStoreDependencies): AnimalStore;
export function createAnimalStore({
  pets,
  changes,
  clock = systemClock,
}: AnimalStoreDependencies): AnimalStore {
  return {
    async listPets(query = {}, { signal } = {}) {
      signal?.throwIfAborted();
      const { limit, ...filter } = requirePetQuery(query);
      // One more than requested: if it exists, there is a next page.
      const found = await pets.list({ ...filter, limit: limit + 1 }, { signal });
      const page = found.slice(0, limit);
      const next = found.length > limit ? page.at(-1)?.id : undefined;
      return { pets: page, ...(next !== undefined && { next }) };
    },

    async createPet(given, { idempotencyKey, signal } = {}) {
      signal?.throwIfAborted();
      const pet = unsavedPet(given);
      if (idempotencyKey === undefined)
        return { pet: await pets.add(pet, { signal }), replayed: false };
      const now = clock.now().getTime();
      const claim = {
        ...requireIdempotencyKey(idempotencyKey),
        fingerprint: fingerprintOf(pet),
        keepUntil: now + CLAIM_LIFETIME,
      };
      return pets.addOnce(pet, claim, now, { signal });
    },

    async getPet(id, { signal } = {}) {
      signal?.throwIfAborted();
      const petId = requirePetId(id);
      const pet = await pets.findById(petId, { signal });
      if (pet === undefined) throw new PetNotFoundError(petId);
      return pet;
    },

    ...(changes && changeOperations(changes)),
  };
}

const changeOperations = (
  changes: PetChanges,
): Pick<ExperimentalAnimalStore, 'changePet' | 'removePet'> => ({
  async changePet(id, change, { from, signal } = {}) {
    signal?.throwIfAborted();
    const petId = requirePetId(id);
    const pet = await changes.change(petId, petChange(change), requireValidFrom(from), { signal });
    if (pet === undefined) throw new PetNotFoundError(petId);
    return pet;
  },

  async removePet(id, { from, signal } = {}) {
    signal?.throwIfAborted();
    const petId = requirePetId(id);
    const isRemoved = await changes.remove(petId, requireValidFrom(from), { signal });
    if (!isRemoved) throw new PetNotFoundError(petId);
  },
});
