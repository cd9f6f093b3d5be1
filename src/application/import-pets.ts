import { IdempotencyConflictError, IdempotencyKeyReusedError } from '../domain/errors.js';
import { savedPet, type UnsavedPet } from '../domain/pet.js';
import type { CatalogueTransfer } from './ports/catalogue-transfer.js';
import type { Clock } from './ports/clock.js';
import type { PetRepository } from './ports/pet-repository.js';

/** A valid animal of a file. */
export interface ImportedPet {
  /** The line that it begins on: 1 or more. */
  readonly line: number;
  readonly pet: UnsavedPet;
  /** Its id in the file. Needed to keep ids. */
  readonly id?: bigint | undefined;
}

/** What became of a batch of animals. */
interface ImportedBatch {
  readonly added: number;
  /** How many an earlier import of the same lines had added. */
  readonly present: number;
  /** Why others were not, by line. */
  readonly refused: ReadonlyMap<number, string>;
}

/**
 * Stores one batch of a file. When it rejects, any part of the batch may have been stored.
 * @throws {UnavailableError} the store cannot do its work now.
 */
export type ImportBatch = (batch: readonly ImportedPet[]) => Promise<ImportedBatch>;

/** How long a line that was added once is recognised, in milliseconds: a year. */
const CLAIM_LIFETIME = 365 * 24 * 60 * 60 * 1000;

/**
 * Adds animals under new ids. Others may use the store meanwhile.
 * @param file a hash of the file. With it, each of the file's lines is added at most once
 */
export const addPets =
  (pets: PetRepository, clock: Clock, file?: string): ImportBatch =>
  async (batch) => {
    const now = clock.now();
    const keepUntil = new Date(now.getTime() + CLAIM_LIFETIME);
    const claimFor = (scope: string, { line, pet: { name, categoryId, status } }: ImportedPet) => {
      // The fields themselves: a line's claim is never larger than its animal by much, and hashing takes longer.
      const fingerprint = JSON.stringify([name, String(categoryId), status]);
      return { scope, key: String(line), fingerprint, keepUntil };
    };
    const results = await Promise.allSettled(
      batch.map((entry) =>
        pets.add(entry.pet, file === undefined ? {} : { claim: claimFor(file, entry), now }),
      ),
    );
    const refused = new Map<number, string>();
    let [added, present] = [0, 0];
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected') refused.set(batch[index]?.line ?? 0, refusal(result.reason));
      else if (result.value.replayed) present += 1;
      else added += 1;
    }
    return { added, present, refused };
  };

function refusal(error: unknown): string {
  if (error instanceof IdempotencyKeyReusedError) return 'The line was imported before, as another animal.';
  if (error instanceof IdempotencyConflictError) return 'Another import of the line is in progress.';
  throw error;
}

/** Stores animals under their ids, which must ascend. Nothing else may use the store meanwhile. */
export const keepPets =
  (transfer: CatalogueTransfer): ImportBatch =>
  async (batch) => {
    const pets = batch.flatMap(({ id, pet }) => (id === undefined ? [] : [savedPet(id, pet)]));
    const last = pets.at(-1);
    if (last !== undefined) await transfer.reserveIds(last.id);
    await transfer.writePets(pets);
    return { added: pets.length, present: 0, refused: new Map() };
  };
