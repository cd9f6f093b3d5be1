import { IdempotencyKeyReusedError, InvalidPetError } from '../domain/errors.js';
import { isInt64 } from '../domain/int64.js';
import * as domain from '../domain/pet.js';
import { fingerprintText } from './create-animal-store.js';
import type { CatalogueTransfer } from './ports/catalogue-transfer.js';
import { timeOf, type Clock } from './ports/clock.js';
import { ADDS_AT_ONCE, type PetRepository } from './ports/pet-repository.js';

/** An animal from elsewhere. */
export interface ImportRow {
  /** Its number in the source: the line of a file. */
  readonly line: number;
  /** What is said of each field, unchecked, or why it cannot be read. */
  readonly fields: PetFields | string;
}

export type PetFields = { -readonly [Field in keyof domain.Pet]?: unknown };

/** What an import has done so far. */
export interface ImportReport {
  added: number;
  /** How many of the added got the default status. */
  withoutStatus: number;
  /** Animals that an earlier import of the same source had added. */
  present: number;
  /** Everything up to this line is done. */
  line: number;
}

/** Called with the line of each row that is not valid, and why. If it throws, the import ends with that. */
export type Reject = (line: number, reason: string) => void;

/** How to import rows. */
export interface ImportOptions {
  /** Reject rows whose ids do not ascend, or are greater than `MAX_GIVEN_ID`. Default: ids are ignored. */
  readonly keepIds?: boolean | undefined;
  readonly reject: Reject;
  /** Updated after every batch. */
  readonly report: ImportReport;
}

/** Stores animals batch by batch, one batch at a time. */
export interface PetImporter {
  /** The most animals of a batch. */
  readonly batchSize: number;
  /** Resolves when every animal is settled, to what became of each, in the same order. */
  readonly store: (batch: readonly ImportedPet[]) => Promise<readonly Outcome[]>;
}

/** A valid row. The id is 0 unless ids are kept. */
type ImportedPet = {
  readonly line: number;
  readonly pet: domain.UnsavedPet;
  readonly id: bigint;
  readonly hasStatus: boolean;
};

/** What became of an animal: stored now, stored by an earlier import of the same source, or why it is not. */
type Outcome = 'added' | 'present' | { readonly refused: unknown };

/** How long an animal that was added once is recognised, in milliseconds: a year. */
const ONCE_LIFETIME = 365 * 24 * 60 * 60 * 1000;

/** Stores nothing. */
export const DRY_RUN: PetImporter = { batchSize: 1000, store: async (batch) => batch.map(() => 'added') };

/**
 * Adds animals under new ids. Others may use the store meanwhile.
 * @param source names the source. With it, each of its animals is added at most once
 */
export const addPets = (pets: PetRepository, clock: Clock, source?: string): PetImporter => ({
  batchSize: ADDS_AT_ONCE,
  async store(batch) {
    const now = timeOf(clock);
    const keepUntil = new Date(now.getTime() + ONCE_LIFETIME);
    // The text itself, not a hash of it: hashing takes longer, and the claim is hardly larger than its animal.
    const claimFor = (scope: string, { line, pet }: ImportedPet) => ({
      claim: { scope, key: String(line), fingerprint: fingerprintText(pet), keepUntil },
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
 * Stores animals under their ids. Nothing else may use the store meanwhile. When a batch rejects, any part of it may
 * have been stored.
 */
export const keepPets = (transfer: CatalogueTransfer): PetImporter => ({
  batchSize: 2500,
  async store(batch) {
    const last = batch.at(-1);
    if (last !== undefined) await transfer.reserveIds(last.id);
    await transfer.writePets(batch.map(({ id, pet }) => domain.savedPet(id, pet)));
    return batch.map(() => 'added');
  },
});

/** Stores the valid rows and rejects the others. */
export async function importPets(
  rows: AsyncIterable<readonly ImportRow[]>,
  { batchSize, store }: PetImporter,
  { keepIds = false, reject, report }: ImportOptions,
): Promise<void> {
  let lastId = 0n;
  /** Returns the animal of a row, or why the row is invalid. */
  const parsed = ({ line, fields }: ImportRow): ImportedPet | string => {
    if (typeof fields === 'string') return fields;
    const { id, status } = fields;
    try {
      const pet = domain.unsavedPet({ ...fields, status: status ?? undefined } as domain.NewPet);
      if (keepIds && (!isInt64(id) || id <= lastId || id > domain.MAX_GIVEN_ID))
        return `The id must be an integer from ${lastId + 1n}, after the one before, to ${domain.MAX_GIVEN_ID}.`;
      if (keepIds) lastId = id as bigint;
      return { line, pet, id: lastId, hasStatus: status !== undefined && status !== null };
    } catch (error) {
      if (error instanceof InvalidPetError) return error.message;
      throw error;
    }
  };
  let batch: ImportedPet[] = [];
  let line = 0;
  const storeBatch = async (): Promise<void> => {
    const outcomes = await store(batch);
    const failures: unknown[] = [];
    for (const [index, { line: number, hasStatus }] of batch.entries()) {
      const outcome = outcomes[index] ?? 'added';
      if (outcome === 'added' && !hasStatus) report.withoutStatus += 1;
      if (typeof outcome === 'string') report[outcome] += 1;
      else if (outcome.refused instanceof IdempotencyKeyReusedError)
        reject(number, 'The line was imported before, as another animal.');
      else failures.push(outcome.refused);
    }
    if (failures.length > 0) throw failures[0];
    report.line = line;
    batch = [];
  };
  for await (const chunk of rows)
    for (const row of chunk) {
      const entry = parsed(row);
      if (typeof entry === 'string') reject(row.line, entry);
      else batch.push(entry);
      line = row.line;
      if (batch.length === batchSize) await storeBatch();
    }
  await storeBatch();
}
