import { savedPet, type UnsavedPet } from '../domain/pet.js';
import { fingerprintText } from './create-animal-store.js';
import type { CatalogueTransfer } from './ports/catalogue-transfer.js';
import type { Clock } from './ports/clock.js';
import { ADDS_AT_ONCE, type PetRepository } from './ports/pet-repository.js';

/** A valid animal from elsewhere. */
export interface ImportedPet {
  /** Names the animal within its source: 1 to 255 characters. */
  readonly key: string;
  readonly pet: UnsavedPet;
  /** Its id there. Needed to keep ids. */
  readonly id?: bigint | undefined;
}

/** What became of an animal: stored now, stored by an earlier import of the same source, or why it is not. */
type Outcome = 'added' | 'present' | { readonly refused: unknown };

/** Stores animals batch by batch, one batch at a time. */
export interface PetImporter {
  /** The most animals of a batch. */
  readonly batchSize: number;
  /** Resolves when every animal is settled, to what became of each, in the same order. */
  readonly store: (batch: readonly ImportedPet[]) => Promise<readonly Outcome[]>;
}

/** How long an animal that was added once is recognised, in milliseconds: a year. */
const CLAIM_LIFETIME = 365 * 24 * 60 * 60 * 1000;

/**
 * Adds animals under new ids. Others may use the store meanwhile.
 * @param source names the source. With it, each of its animals is added at most once
 */
export const addPets = (pets: PetRepository, clock: Clock, source?: string): PetImporter => ({
  batchSize: ADDS_AT_ONCE,
  async store(batch) {
    const now = clock.now();
    const keepUntil = new Date(now.getTime() + CLAIM_LIFETIME);
    // The text itself, not a hash of it: hashing takes longer, and the claim is hardly larger than its animal.
    const claimFor = (scope: string, { key, pet }: ImportedPet) => ({
      claim: { scope, key, fingerprint: fingerprintText(pet), keepUntil },
      now,
    });
    const adding = batch.map((entry) => pets.add(entry.pet, source ? claimFor(source, entry) : {}));
    return (await Promise.allSettled(adding)).map((result) => {
      if (result.status === 'rejected') return { refused: result.reason };
      return result.value.replayed ? 'present' : 'added';
    });
  },
});

/**
 * Stores animals under their ids, which must ascend up to `MAX_GIVEN_ID`. Nothing else may use the store meanwhile. When
 * a batch rejects, any part of it may have been stored.
 */
export const keepPets = (transfer: CatalogueTransfer): PetImporter => ({
  batchSize: 2500,
  async store(batch) {
    const pets = batch.flatMap(({ id, pet }) => (id === undefined ? [] : [savedPet(id, pet)]));
    const last = pets.at(-1);
    if (last !== undefined) await transfer.reserveIds(last.id);
    await transfer.writePets(pets);
    return batch.map(() => 'added');
  },
});
