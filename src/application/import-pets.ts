import { InvalidPetError, type Fault } from '../domain/errors.js';
import { isInt64 } from '../domain/int64.js';
import {
  MAX_GIVEN_ID,
  changeFaults,
  isSamePet,
  newPetFaults,
  petChange,
  petWithId,
  unsavedPet,
  type NewPet,
  type Pet,
  type PetChange,
  type UnsavedPet,
} from '../domain/pet.js';
import { PET_STATUSES } from '../domain/pet-status.js';
import type { CatalogueTransfer } from './ports/catalogue-transfer.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { PetChanges } from './ports/pet-changes.js';
import { ADDS_AT_ONCE, fingerprintText, type PetRepository } from './ports/pet-repository.js';

/** A row of a source, such as a file. */
export interface ImportRow {
  /** Its number in the source: the line of a file. */
  readonly line: number;
  /** What is said of each field, unchecked, or why it cannot be read. */
  readonly fields: { readonly [Field in keyof Pet]?: unknown } | string;
}

type GivenFields = Exclude<ImportRow['fields'], string>;

/** A valid row with an animal to add. */
export interface ValidRow {
  /** Its number in the source. */
  readonly line: number;
  /** 0 unless ids are kept. */
  readonly id: bigint;
  /** Without its id. */
  readonly pet: UnsavedPet;
}

/** A valid row with new values of an animal that is stored already. */
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

/** Stores the animals of rows and counts them. Settles when every animal that it began to store is settled. */
export type PetWriter = (rows: readonly ValidRow[], report: ImportReport) => Promise<void>;

/** Changes animals and counts the changes. Settles when every change that it began is settled. */
export type PetUpdater = (
  updates: readonly PetUpdate[],
  report: ImportReport,
  reject: ImportOptions['reject'],
) => Promise<void>;

/** How long an animal that was added once is recognised, in milliseconds: a year. */
const ONCE_LIFETIME = 365 * 24 * 60 * 60 * 1000;

/** How `addPets` adds. */
export interface AddPetsOptions {
  /**
   * Names the source, in 1 to 255 characters. With it, each of its lines is added at most once within a year. The store
   * must keep claims.
   */
  readonly source?: string | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** Adds animals under new ids. Others may use the store meanwhile. */
export function addPets(
  pets: PetRepository,
  { source, clock = systemClock }: AddPetsOptions = {},
): PetWriter {
  return async (rows, report) => {
    if (source !== undefined && pets.addOnce === undefined)
      throw new TypeError('The store keeps no claims: a source cannot be added once.');
    const now = timeOf(clock);

    const add = async ({ line, pet }: ValidRow): Promise<void> => {
      if (source === undefined || pets.addOnce === undefined) {
        await pets.add(pet);
        report.added += 1;
        return;
      }
      const claim = Object.freeze({
        scope: source,
        key: String(line),
        // The text itself, not a hash of it: hashing takes longer, and the claim is hardly larger than its animal.
        fingerprint: fingerprintText(pet),
        keepUntil: now + ONCE_LIFETIME,
      });
      const { replayed } = await pets.addOnce(pet, claim, now);
      if (!replayed) report.added += 1;
    };

    for (const batch of batchesOf(rows)) {
      await waitForAll(batch.map(add));
      report.line = batch.at(-1)?.line ?? report.line;
    }
  };
}

/** Stores animals under their ids, in a store that nothing else uses. If it rejects, any of them may be stored. */
export function keepPets(transfer: CatalogueTransfer): PetWriter {
  return async (rows, report) => {
    await transfer.reserveIds(rows.at(-1)?.id ?? 0n);
    await transfer.writePets(rows.map(({ id, pet }) => petWithId(id, pet)));
    report.added += rows.length;
  };
}

/** Changes the animals that differ, each in one atomic step. Without `changes` it only counts them. */
export function changePets(pets: PetRepository, changes?: PetChanges): PetUpdater {
  return async (updates, report, reject) => {
    const apply = async ({ line, id, change }: PetUpdate): Promise<void> => {
      const found = await pets.findById(id);
      if (found && isSamePet(found, petWithId(id, { ...found, ...change }))) return;
      const changed = changes ? await changes.change(id, change, PET_STATUSES) : found;
      if (changed) report.changed = (report.changed ?? 0) + 1;
      else reject(line, `No animal has the id ${id}.`);
    };
    const applyInOrder = async (ofOneAnimal: readonly PetUpdate[]): Promise<void> => {
      for (const update of ofOneAnimal) await apply(update);
    };

    for (const batch of batchesOf(updates)) {
      // Of several lines for one animal the last one counts.
      const byAnimal = Map.groupBy(batch, ({ id }) => id);
      await waitForAll([...byAnimal.values()].map(applyInOrder));
    }
  };
}

/** As many items at a time as a store takes calls at once. */
function* batchesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += ADDS_AT_ONCE)
    yield items.slice(start, start + ADDS_AT_ONCE);
}

/** Waits for all, and then throws what the first that failed rejected with. */
async function waitForAll(work: ReadonlyArray<Promise<void>>): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** How to import. */
export interface ImportOptions {
  /** Stores the animals: `addPets` or `keepPets`. Default: they are only checked and counted. */
  readonly store?: PetWriter | undefined;
  /** Changes the animals of rows with an id: `changePets`. Rows without one are new. Default: ids do not count. */
  readonly change?: PetUpdater | undefined;
  /** Whether ids must ascend, up to 2^63 - 2^32 - 1, as `keepPets` needs; otherwise they are ignored. Default: false. */
  readonly keepIds?: boolean | undefined;
  /** Called with each invalid line and the reason. If it throws, the chunk of that line is not stored. */
  readonly reject: (line: number, reason: string) => void;
  /** Updated meanwhile, also for an import that stops. Default: a new one. */
  readonly report?: ImportReport | undefined;
}

/**
 * Stores the valid rows, chunk by chunk. Resolves to what was done.
 * @throws what `reject`, `store`, `change` or the rows throw. Then everything in the report is stored, and perhaps a part
 * of the next chunk.
 */
export async function importPets(
  rows: AsyncIterable<readonly ImportRow[]>,
  { store, change, keepIds = false, reject, report = { added: 0, line: 0 } }: ImportOptions,
): Promise<ImportReport> {
  const check = rowChecker(keepIds, change !== undefined);
  for await (const chunk of rows) {
    const newPets: ValidRow[] = [];
    const updates: PetUpdate[] = [];
    for (const row of chunk) {
      const checked = check(row);
      if (typeof checked === 'string') reject(row.line, checked);
      else if ('change' in checked) updates.push(checked);
      else newPets.push(checked);
    }

    if (change) await change(updates, report, reject);
    if (store && newPets.length > 0) await store(newPets, report);
    else report.added += newPets.length;
    report.line = chunk.at(-1)?.line ?? report.line;
  }
  return report;
}

/** Returns a function for all rows in their order. It returns what a row holds, or why the row is not valid. */
function rowChecker(keepIds: boolean, takesUpdates: boolean) {
  let lastId = 0n;
  return ({ line, fields }: ImportRow): ValidRow | PetUpdate | string => {
    if (typeof fields === 'string') return fields;
    const { id } = fields;
    if (takesUpdates && id !== undefined) return checkUpdate(line, id, fields);

    const faults = newPetFaults(fields);
    if (faults.length > 0) return reasonOf(faults);
    const pet = unsavedPet(fields as NewPet);
    if (!keepIds) return { line, id: 0n, pet };
    if (!isInt64(id) || id <= lastId || id > MAX_GIVEN_ID) {
      const range = `${lastId + 1n}, after the one before, to ${MAX_GIVEN_ID}`;
      return reasonOf([{ field: 'id', message: `must be an integer from ${range}` }]);
    }
    lastId = id;
    return { line, id, pet };
  };
}

function checkUpdate(line: number, id: unknown, fields: GivenFields): PetUpdate | string {
  if (!isInt64(id)) return reasonOf([{ field: 'id', message: 'must be a 64-bit integer' }]);
  const faults = changeFaults(fields);
  if (faults.length > 0) return reasonOf(faults);
  return { line, id, change: petChange(fields as Partial<NewPet>) };
}

const reasonOf = (faults: readonly Fault[]): string => new InvalidPetError(faults).message;
