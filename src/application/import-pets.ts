import { InvalidPetError } from '../domain/errors.js';
import { INT64_RULE, toInt64 } from '../domain/int64.js';
import {
  PET_FIELDS,
  petChange,
  unsavedPet,
  type NewPet,
  type Pet,
  type UnsavedPet,
} from '../domain/pet.js';
import type { CallOptions } from './call-options.js';
import { createAnimalStore } from './create-animal-store.js';
import type { Clock } from './ports/clock.js';
import type { Store } from './ports/store.js';
import { permanentError } from './store-rules.js';

/** A row of a file, unchecked. */
export interface ImportRow {
  /** Its line in the file, from 1. */
  readonly line: number;
  /** Its values by field. `undefined` stands for an empty cell or a missing member. Integers are bigints. */
  readonly fields: { readonly [Field in keyof Pet]?: unknown };
}

/** A line of a file that cannot be imported, and why. */
export interface LineFault {
  readonly line: number;
  readonly message: string;
}

/** The checked rows of a file. */
export interface ImportPlan {
  readonly toAdd: readonly RowToAdd[];
  /** By the id of the animal. */
  readonly toChange: ReadonlyMap<bigint, RowToChange>;
  /** The invalid lines, in order. Whether the animals to change exist is not checked yet. */
  readonly faults: readonly LineFault[];
}

interface RowToAdd {
  readonly line: number;
  readonly pet: UnsavedPet;
}

interface RowToChange {
  readonly line: number;
  readonly change: Partial<UnsavedPet>;
}

/** Checks rows: one without an id adds an animal, one with an id changes that animal. */
export async function planImport(
  rows: AsyncIterable<ImportRow | LineFault>,
  { signal }: CallOptions = {},
): Promise<ImportPlan> {
  const toAdd: RowToAdd[] = [];
  const toChange = new Map<bigint, RowToChange>();
  const faults: LineFault[] = [];
  for await (const row of rows) {
    signal?.throwIfAborted();
    if ('message' in row) {
      faults.push(row);
      continue;
    }
    const { line, fields } = row;
    try {
      if (fields.id === undefined) toAdd.push({ line, pet: unsavedPet(fields as NewPet) });
      else {
        const id = requireUniqueId(fields.id, toChange);
        toChange.set(id, { line, change: petChange(fields as Partial<NewPet>) });
      }
    } catch (error) {
      if (!(error instanceof InvalidPetError)) throw error;
      faults.push({ line, message: error.message });
    }
  }
  return { toAdd, toChange, faults };
}

/** Options of `importPets`. */
export interface ImportOptions extends CallOptions {
  readonly store: Pick<Store, 'pets' | 'changes'>;
  /**
   * Identifies the content, as the `scope` of its idempotency keys: each line is added at most once within 24 hours.
   */
  readonly source: string;
  /** Only checks that the animals to change exist. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** What an import did; what it would have done, if it was a dry run or `faults` is not empty. */
export interface ImportReport {
  /** Animals that were added. A dry run also counts those that an earlier import added. */
  readonly added: number;
  /** Animals that differed from their row. */
  readonly changed: number;
  /** The lines whose animal does not exist, in no particular order. If there are any, nothing was stored. */
  readonly faults: readonly LineFault[];
}

/** How many rows are looked up or stored at once. */
const BATCH_SIZE = 64;

/**
 * Stores the rows of a plan, once its faults are dealt with. After a failure, import the same content again: within 24
 * hours, no animal is added twice.
 * @throws {Error} a row has an id, and the store has no `changes`. Nothing was stored.
 * @throws what the store throws
 */
export async function importPets(
  plan: Omit<ImportPlan, 'faults'>,
  { store: { pets, changes }, source, dryRun = false, clock, signal }: ImportOptions,
): Promise<ImportReport> {
  if (plan.toChange.size > 0 && changes === undefined)
    throw permanentError('The store cannot change animals.');

  const faults: LineFault[] = [];
  const differing = new Map<bigint, RowToChange>();
  await inBatches(plan.toChange, async ([id, row]) => {
    const pet = await pets.findById(id, { signal });
    if (pet === undefined) faults.push({ line: row.line, message: noAnimalHas(id) });
    else if (differs(pet, row.change)) differing.set(id, row);
  });
  const report = { added: plan.toAdd.length, changed: differing.size, faults };
  if (dryRun || faults.length > 0) return report;

  const animalStore = createAnimalStore({ pets, clock });
  let added = 0;
  await inBatches(plan.toAdd, async ({ line, pet }) => {
    const idempotencyKey = { scope: source, key: String(line) };
    const { replayed } = await animalStore.createPet(pet, { idempotencyKey, signal });
    if (!replayed) added += 1;
  });
  await inBatches(differing, async ([id, { line, change }]) => {
    const pet = await changes?.change(id, change, undefined, { signal });
    if (pet === undefined) throw new Error(`Line ${line}: ${noAnimalHas(id)}`);
  });
  return { ...report, added };
}

const differs = (pet: Pet, change: Partial<UnsavedPet>): boolean =>
  PET_FIELDS.some((field) => change[field] !== undefined && change[field] !== pet[field]);

/** @throws {InvalidPetError} it is not an int64, or an earlier valid row has it */
function requireUniqueId(given: unknown, earlier: ReadonlyMap<bigint, RowToChange>): bigint {
  const id = toInt64(given);
  if (id === undefined) throw invalidId(INT64_RULE);
  const other = earlier.get(id);
  if (other) throw invalidId(`is the id of line ${other.line}, too`);
  return id;
}

const invalidId = (message: string): InvalidPetError =>
  new InvalidPetError([{ field: 'id', message }]);

const noAnimalHas = (id: bigint): string =>
  `No animal has the id ${id}: an import cannot add an animal under a given id; only copy and restore can.`;

/** Calls `work` for each item, `BATCH_SIZE` at once. If one fails, waits for the rest of its batch, then throws. */
async function inBatches<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>) {
  const all = [...items];
  for (let start = 0; start < all.length; start += BATCH_SIZE) {
    const results = await Promise.allSettled(all.slice(start, start + BATCH_SIZE).map(work));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
