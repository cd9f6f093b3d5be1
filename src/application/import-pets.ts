import { InvalidPetError } from '../domain/errors.js';
import { isInt64 } from '../domain/int64.js';
import {
  MAX_GIVEN_ID,
  isSamePet,
  petChange,
  petWithId,
  unsavedPet,
  type NewPet,
  type Pet,
  type PetChange,
  type UnsavedPet,
} from '../domain/pet.js';
import type { CatalogueTransfer } from './ports/catalogue-transfer.js';
import { PET_STATUSES } from '../domain/pet-status.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { PetChanges } from './ports/pet-changes.js';
import { ADDS_AT_ONCE, fingerprintText, type PetRepository } from './ports/pet-repository.js';

/** An animal from elsewhere. */
export interface ImportRow {
  /** Its number in the source: the line of a file. */
  readonly line: number;
  /** What is said of each field, unchecked, or why it cannot be read. */
  readonly fields: { readonly [Field in keyof Pet]?: unknown } | string;
}

/** A valid row. */
export interface ImportedPet {
  /** Its number in the source. */
  readonly line: number;
  /** 0 unless ids are kept. */
  readonly id: bigint;
  /** Without its id. */
  readonly pet: UnsavedPet;
}

/** New values of an animal that is stored already. */
export interface PetUpdate {
  /** Its number in the source. */
  readonly line: number;
  /** Of the animal. */
  readonly id: bigint;
  readonly change: PetChange;
}

/** What an import has done so far. */
export interface ImportReport {
  /** How many animals it has added. */
  added: number;
  /** How many times it has changed an animal. Absent if it changes none. */
  changed?: number;
  /** It is done with everything up to this line. */
  line: number;
}

/** Stores animals and counts them. Settles when every animal that it began to store is settled. */
export type StorePets = (entries: readonly ImportedPet[], report: ImportReport) => Promise<void>;

/** Changes animals and counts the changes. Settles when every change that it began is settled. */
export type ChangePets = (
  updates: readonly PetUpdate[],
  report: ImportReport,
  reject: ImportOptions['reject'],
) => Promise<void>;

/** How long an animal that was added once is recognised, in milliseconds: a year. */
const ONCE_LIFETIME = 365 * 24 * 60 * 60 * 1000;

/** How `addPets` adds. */
export interface AddPetsOptions {
  /** Names the source, in 1 to 255 characters. With it, each of its lines is added at most once within a year. The store must keep claims. */
  readonly source?: string | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** Adds animals under new ids. Others may use the store meanwhile. */
export const addPets =
  (pets: PetRepository, { source, clock = systemClock }: AddPetsOptions = {}): StorePets =>
  async (entries, report) => {
    if (source !== undefined && pets.addOnce === undefined)
      throw new TypeError('The store keeps no claims: a source cannot be added once.');
    const now = timeOf(clock);
    const keepUntil = now + ONCE_LIFETIME;
    for (let start = 0; start < entries.length; start += ADDS_AT_ONCE) {
      const batch = entries.slice(start, start + ADDS_AT_ONCE);
      const adding = batch.map(async ({ line, pet }): Promise<boolean> => {
        if (source === undefined || !pets.addOnce) return pets.add(pet).then(() => true);
        // The text itself, not a hash of it: hashing takes longer, and the claim is hardly larger than its animal.
        const fingerprint = fingerprintText(pet);
        const claim = Object.freeze({ scope: source, key: String(line), fingerprint, keepUntil });
        return !(await pets.addOnce(pet, claim, now)).replayed;
      });
      const results = await Promise.allSettled(adding);
      for (const result of results)
        if (result.status === 'fulfilled' && result.value) report.added += 1;
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      report.line = batch.at(-1)?.line ?? report.line;
    }
  };

/** Stores animals under their ids, in a store that nothing else uses. If it rejects, any of them may be stored. */
export const keepPets =
  (transfer: CatalogueTransfer): StorePets =>
  async (entries, report) => {
    await transfer.reserveIds(entries.at(-1)?.id ?? 0n);
    await transfer.writePets(entries.map(({ id, pet }) => petWithId(id, pet)));
    report.added += entries.length;
  };

/** Changes the animals that differ, each in one atomic step. Without `changes` it only counts them. */
export const changePets =
  (pets: PetRepository, changes?: PetChanges): ChangePets =>
  async (updates, report, reject) => {
    const apply = async ({ line, id, change }: PetUpdate): Promise<void> => {
      const found = await pets.findById(id);
      if (found && isSamePet(found, petWithId(id, { ...found, ...change }))) return;
      const changed = changes ? await changes.change(id, change, PET_STATUSES) : found;
      if (changed) report.changed = (report.changed ?? 0) + 1;
      else reject(line, `No animal has the id ${id}.`);
    };
    for (let start = 0; start < updates.length; start += ADDS_AT_ONCE) {
      const batch = updates.slice(start, start + ADDS_AT_ONCE);
      // Of several lines for one animal the last one counts.
      const byAnimal = [...Map.groupBy(batch, ({ id }) => id).values()];
      const changing = byAnimal.map(async (ofOne) => {
        for (const update of ofOne) await apply(update);
      });
      const results = await Promise.allSettled(changing);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
    }
  };

/** How to import. */
export interface ImportOptions {
  /** Stores the animals: `addPets` or `keepPets`. Default: they are only checked and counted. */
  readonly store?: StorePets | undefined;
  /** Changes the animals of rows with an id: `changePets`. Rows without one are new. Default: ids do not count. */
  readonly change?: ChangePets | undefined;
  /** Whether ids must ascend, up to 2^63 - 2^32 - 1, as `keepPets` needs; otherwise they are ignored. Default: false. */
  readonly keepIds?: boolean | undefined;
  /** Called with each invalid line and the reason. If it throws, the chunk of that line is not stored. */
  readonly reject: (line: number, reason: string) => void;
  /** Updated meanwhile, also for an import that stops. Default: a new one. */
  readonly report?: ImportReport | undefined;
}

/**
 * Stores the valid rows, chunk by chunk. Resolves to what was done.
 * @throws what `reject`, `store`, `change` or the rows throw. What is in the report then is stored, and a part of the next chunk may
 * be.
 */
export async function importPets(
  rows: AsyncIterable<readonly ImportRow[]>,
  { store, change, keepIds = false, reject, report = { added: 0, line: 0 } }: ImportOptions,
): Promise<ImportReport> {
  let lastId = 0n;
  for await (const chunk of rows) {
    const entries: ImportedPet[] = [];
    const updates: PetUpdate[] = [];
    for (const { line, fields } of chunk)
      try {
        if (typeof fields === 'string') throw new InvalidPetError([], { message: fields });
        if (change && fields.id !== undefined) {
          updates.push(updateOf(line, fields));
          continue;
        }
        const pet = unsavedPet(fields as NewPet);
        if (keepIds) lastId = idAfter(lastId, fields.id);
        entries.push({ line, id: lastId, pet });
      } catch (error) {
        if (!(error instanceof InvalidPetError)) throw error;
        reject(line, error.message);
      }
    if (change) await change(updates, report, reject);
    if (store && entries.length > 0) await store(entries, report);
    else report.added += entries.length;
    report.line = chunk.at(-1)?.line ?? report.line;
  }
  return report;
}

function updateOf(
  line: number,
  { id, ...fields }: Exclude<ImportRow['fields'], string>,
): PetUpdate {
  if (isInt64(id)) return { line, id, change: petChange(fields as Partial<NewPet>) };
  throw new InvalidPetError([{ field: 'id', message: 'must be a 64-bit integer' }]);
}

function idAfter(last: bigint, id: unknown): bigint {
  if (isInt64(id) && id > last && id <= MAX_GIVEN_ID) return id;
  const message = `must be an integer from ${last + 1n}, after the one before, to ${MAX_GIVEN_ID}`;
  throw new InvalidPetError([{ field: 'id', message }]);
}
