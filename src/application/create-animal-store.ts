import { InvalidParameterError, PetNotFoundError } from '../domain/errors.js';
import { petChange, unsavedPet, type UnsavedPet } from '../domain/pet.js';
import type {
  AnimalStore,
  CallOptions,
  CreatedPet,
  ExperimentalAnimalStore,
  IdempotencyKey,
  PetQuery,
} from './animal-store.js';
import {
  PAGE_LIMIT,
  petCondition,
  requireIdempotencyKey,
  requirePetId,
  requirePetQuery,
} from './call-rules.js';
import { requireProgress } from './pet-pages.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { PetChanges } from './ports/pet-changes.js';
import { fingerprintText, type PetRepository } from './ports/pet-repository.js';

/** What an animal store is made of. */
export interface AnimalStoreDependencies {
  /** Where animals are stored: an adapter of this package, or your own. */
  readonly pets: PetRepository;
  /** What changes and removes the animals of the same store. Default: nothing does. */
  readonly changes?: PetChanges | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /**
   * The SHA-256 of a text in UTF-8, in lower-case hexadecimal. It checks that a retry sends the same animal. Default: by
   * Web Crypto, which runs everywhere; a synchronous one, such as `hash` of `node:crypto`, costs a tenth.
   */
  readonly sha256?: ((text: string) => string | Promise<string>) | undefined;
}

/**
 * Makes an animal store on any repository; with `changes` one whose animals can be changed. It opens nothing: the caller
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
  sha256 = sha256ByWebCrypto,
}: AnimalStoreDependencies): AnimalStore {
  async function createOnce(
    pet: UnsavedPet,
    idempotencyKey: IdempotencyKey,
    options: CallOptions,
  ): Promise<CreatedPet> {
    if (pets.addOnce === undefined) throw new InvalidParameterError([NO_KEYS_KEPT]);
    const now = timeOf(clock);
    const { scope, key } = requireIdempotencyKey(idempotencyKey);
    const fingerprint = await sha256(fingerprintText(pet));
    const claim = Object.freeze({ scope, key, fingerprint, keepUntil: now + CLAIM_LIFETIME });
    return pets.addOnce(pet, claim, now, options);
  }

  return Object.freeze({
    keepsIdempotencyKeys: pets.addOnce !== undefined,

    async listPets(query = {}, options = {}) {
      requirePetQuery(query, options);
      const { limit = PAGE_LIMIT.default, status, after } = query;
      // One more than requested: its existence tells whether there is a next page.
      const oneMore = { after, limit: limit + 1, status } satisfies Required<PetQuery>;
      const found = await pets.list(oneMore, options);
      requireProgress(found, after);
      const last = found.length > limit ? found[limit - 1] : undefined;
      if (last === undefined) return { pets: found };
      return { pets: found.slice(0, limit), next: last.id };
    },

    async createPet(pet, options = {}) {
      const { idempotencyKey, signal } = options;
      signal?.throwIfAborted();
      const unsaved = unsavedPet(pet);
      if (idempotencyKey !== undefined) return createOnce(unsaved, idempotencyKey, { signal });
      return { pet: await pets.add(unsaved, { signal }), replayed: false };
    },

    async getPet(id, options = {}) {
      const petId = requirePetId(id, options);
      const pet = await pets.findById(petId, options);
      if (pet === undefined) throw new PetNotFoundError(petId);
      return pet;
    },

    ...(changes && changingAnimals(changes)),
  } satisfies AnimalStore);
}

/** The operations of `ExperimentalAnimalStore` alone. */
const changingAnimals = (
  changes: PetChanges,
): Omit<ExperimentalAnimalStore, keyof AnimalStore> => ({
  async changePet(id, change, options = {}) {
    const petId = requirePetId(id, options);
    const { from, signal } = options;
    const condition = petCondition(from);
    const pet = await changes.change(petId, petChange(change), condition, { signal });
    if (pet === undefined) throw new PetNotFoundError(petId);
    return pet;
  },

  async removePet(id, options = {}) {
    const petId = requirePetId(id, options);
    const { from, signal } = options;
    const isRemoved = await changes.remove(petId, petCondition(from), { signal });
    if (!isRemoved) throw new PetNotFoundError(petId);
  },
});

const NO_KEYS_KEPT = {
  field: 'idempotencyKey',
  message: 'must be omitted: the store keeps no idempotency keys',
};

/** How long an idempotency key is honoured, in milliseconds: 24 hours. */
const CLAIM_LIFETIME = 24 * 60 * 60 * 1000;

async function sha256ByWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
