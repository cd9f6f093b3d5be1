import { InvalidPetError, requireValid, type Fault } from '../domain/errors.js';
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
  type UnsavedPet,
} from '../domain/pet.js';
import { PET_STATUSES } from '../domain/pet-status.js';
import { claimTextFault } from './call-rules.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import { ADDS_AT_ONCE, fingerprintText } from './ports/pet-repository.js';
import type { Store } from './ports/store.js';

/** A row of a source, such as a file. */
export interface ImportRow {
  /** Its number in the source: the line of a file. */
  readonly line: number;
  /** What is said of each field, unchecked, or why it cannot be read. */
  readonly fields: { readonly [Field in keyof Pet]?: unknown } | string;
}

type GivenFields = Exclude<ImportRow['fields'], string>;

/** What an import has done so far. */
export interface ImportReport {
  /** How many animals it has added. */
  added: number;
  /** How many times it has changed an animal. Absent if it changes none. */
  changed?: number;
  /** It is done with everything up to this line. */
  line: number;
}

/** How to import. `pets`, `transfer` and `changes` must belong to one store. */
export interface ImportOptions extends Partial<Pick<Store, 'pets' | 'transfer' | 'changes'>> {
  /**
   * What the id of a row is for. `ignore`: the store assigns a new one. `keep`: the animal gets it; ids ascend, up to
   * 2^63 - 2^32 - 1, and nothing else may use the store. `update`: the row changes this animal; a row without an id adds
   * one. Default: `ignore`.
   */
  readonly ids?: 'ignore' | 'keep' | 'update' | undefined;
  /**
   * Names the source, in 1 to 255 UTF-16 code units, without U+0000 and lone surrogates. With it, each of its lines is
   * added at most once within a year. The store must keep claims.
   */
  readonly source?: string | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /**
   * Only checks and counts the rows. Needs `pets` if they are updates, and otherwise no port. Keeps in memory the animals
   * that it would change: a later row of the same animal is compared with them. Does not look for rows that were added
   * once from the `source`. Default: false.
   */
  readonly dryRun?: boolean | undefined;
  /**
   * Called with each invalid line and the reason, before anything of its chunk is stored. If it throws, nothing of the
   * chunk is stored. Only if somebody removes an animal while its chunk is imported, its line is rejected later.
   */
  readonly reject: (line: number, reason: string) => void;
  /** Updated meanwhile, also for an import that stops. Default: a new one. */
  readonly report?: ImportReport | undefined;
}

/**
 * Imports the valid rows, chunk by chunk: adds their animals to `pets`, or with `transfer` keeps their ids, or with
 * `changes` changes the animals that differ, each in one atomic step. Resolves to what was done.
 * @throws {InvalidParameterError} `ids`, `dryRun` or `source` is not valid.
 * @throws {TypeError} the store lacks what the options need.
 * @throws what `reject`, the store or the rows throw. Then everything in the report is stored, and perhaps a part of the
 * next chunk.
 */
export async function importPets(
  rows: AsyncIterable<readonly ImportRow[]>,
  options: ImportOptions,
): Promise<ImportReport> {
  requireImportOptions(options);
  const { ids = 'ignore', reject, report = { added: 0, line: 0 } } = options;
  const check = rowChecker(ids);
  const planned = new Map<bigint, Pet>();
  for await (const chunk of rows) {
    const newPets: NewRow[] = [];
    const updates: UpdateRow[] = [];
    for (const row of chunk) {
      const checked = check(row);
      if (typeof checked === 'string') reject(row.line, checked);
      else if ('change' in checked) updates.push(checked);
      else newPets.push(checked);
    }

    await changePets(updates, options, report, planned);
    if (options.dryRun) report.added += newPets.length;
    else if (ids === 'keep') await keepPets(newPets, options, report);
    else await addPets(newPets, options, report);
    report.line = chunk.at(-1)?.line ?? report.line;
  }
  return report;
}

const ID_USES: readonly unknown[] = ['ignore', 'keep', 'update'];

function requireImportOptions(options: ImportOptions): void {
  const { ids = 'ignore', source, dryRun = false } = options;
  requireValid({
    ids: ID_USES.includes(ids) ? undefined : `must be one of ${ID_USES.join(', ')}`,
    dryRun: typeof dryRun === 'boolean' ? undefined : 'must be true or false',
    source: source === undefined ? undefined : claimTextFault(source),
  });
}

/** A valid row with an animal to add. Its id is 0 unless ids are kept. */
interface NewRow {
  readonly line: number;
  readonly id: bigint;
  readonly pet: UnsavedPet;
}

/** A valid row with new values of an animal that is stored already. */
interface UpdateRow {
  readonly line: number;
  readonly id: bigint;
  readonly change: Partial<UnsavedPet>;
}

/** Adds animals under new ids. Others may use the store meanwhile. */
async function addPets(
  rows: readonly NewRow[],
  options: ImportOptions,
  report: ImportReport,
): Promise<void> {
  const addAndCount = async (row: NewRow): Promise<void> => {
    if (await addPet(row, options)) report.added += 1;
  };
  for (const batch of batchesOf(rows)) {
    await waitForAll(batch.map(addAndCount));
    report.line = batch.at(-1)?.line ?? report.line;
  }
}

/** How long an animal that was added once is recognised, in milliseconds: a year. */
const ONCE_LIFETIME = 365 * 24 * 60 * 60 * 1000;

/** Resolves to whether the animal is new: from a source, it may have been added before. */
async function addPet(
  { line, pet }: NewRow,
  { pets, source, clock = systemClock }: ImportOptions,
): Promise<boolean> {
  const repository = required(pets, '`pets`');
  if (source === undefined) {
    await repository.add(pet);
    return true;
  }
  const now = timeOf(clock);
  const claim = Object.freeze({
    scope: source,
    key: String(line),
    // The text itself, not a hash of it: hashing takes longer, and the claim is hardly larger than its animal.
    fingerprint: fingerprintText(pet),
    keepUntil: now + ONCE_LIFETIME,
  });
  const created = await repository.addOnce?.(pet, claim, now);
  return !required(created, 'a store that keeps claims').replayed;
}

/** Stores animals under their ids. If it rejects, any of them may be stored. */
async function keepPets(
  rows: readonly NewRow[],
  options: ImportOptions,
  report: ImportReport,
): Promise<void> {
  const transfer = required(options.transfer, '`transfer`');
  await transfer.reserveIds(rows.at(-1)?.id ?? 0n);
  await transfer.writePets(rows.map(({ id, pet }) => petWithId(id, pet)));
  report.added += rows.length;
}

/**
 * Changes the animals that differ. Rejects the rows whose id no animal has before it changes any.
 * @param planned the animals that a dry run would have changed, as they would be now, by id
 */
async function changePets(
  rows: readonly UpdateRow[],
  { pets, changes, dryRun, reject }: ImportOptions,
  report: ImportReport,
  planned: Map<bigint, Pet>,
): Promise<void> {
  const rowsById = Map.groupBy(rows, ({ id }) => id);
  const current = new Map<bigint, Pet>();
  const find = async (id: bigint): Promise<void> => {
    const pet = planned.get(id) ?? (await required(pets, '`pets`').findById(id));
    if (pet) current.set(id, pet);
  };
  for (const batch of batchesOf([...rowsById.keys()])) await waitForAll(batch.map(find));
  for (const { line, id } of rows) if (!current.has(id)) reject(line, noAnimalHas(id));

  const apply = async ({ line, id, change }: UpdateRow): Promise<void> => {
    const pet = current.get(id);
    if (pet === undefined) return; // its row is rejected already
    const wanted = petWithId(id, { ...pet, ...change });
    if (isSamePet(pet, wanted)) return;
    const changed = dryRun
      ? wanted
      : await required(changes, '`changes`').change(id, change, PET_STATUSES);
    if (changed === undefined) {
      reject(line, noAnimalHas(id)); // it was removed meanwhile
      return;
    }
    current.set(id, changed);
    if (dryRun) planned.set(id, changed);
    report.changed = (report.changed ?? 0) + 1;
  };
  // Of several rows for one animal the last one counts.
  const applyInOrder = async (ofOneAnimal: readonly UpdateRow[]): Promise<void> => {
    for (const row of ofOneAnimal) await apply(row);
  };
  for (const batch of batchesOf([...rowsById.values()])) await waitForAll(batch.map(applyInOrder));
}

const noAnimalHas = (id: bigint): string => `No animal has the id ${id}.`;

function required<Part>(part: Part | undefined, name: string): Part {
  if (part === undefined) throw new TypeError(`The import needs ${name}.`);
  return part;
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

/** Returns a function for all rows in their order. It returns what a row holds, or why the row is not valid. */
function rowChecker(ids: ImportOptions['ids']) {
  let lastId = 0n;
  return ({ line, fields }: ImportRow): NewRow | UpdateRow | string => {
    if (typeof fields === 'string') return fields;
    const { id } = fields;
    if (ids === 'update' && id !== undefined) return checkUpdate(line, id, fields);

    const faults = newPetFaults(fields);
    if (faults.length > 0) return reasonOf(faults);
    const pet = unsavedPet(fields as NewPet);
    if (ids !== 'keep') return { line, id: 0n, pet };
    if (!isInt64(id) || id <= lastId || id > MAX_GIVEN_ID) {
      const range = `${lastId + 1n}, after the one before, to ${MAX_GIVEN_ID}`;
      return reasonOf([{ field: 'id', message: `must be an integer from ${range}` }]);
    }
    lastId = id;
    return { line, id, pet };
  };
}

function checkUpdate(line: number, id: unknown, fields: GivenFields): UpdateRow | string {
  if (!isInt64(id)) return reasonOf([{ field: 'id', message: 'must be a 64-bit integer' }]);
  const faults = changeFaults(fields);
  if (faults.length > 0) return reasonOf(faults);
  return { line, id, change: petChange(fields as Partial<NewPet>) };
}

const reasonOf = (faults: readonly Fault[]): string => new InvalidPetError(faults).message;
