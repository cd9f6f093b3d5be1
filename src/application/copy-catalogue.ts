import { isSamePet, type Pet } from '../domain/pet.js';
import type { Call } from './animal-store.js';
import type { ApiKeyRecord } from './ports/api-key-repository.js';
import type { CatalogueTransfer, PetClaim } from './ports/catalogue-transfer.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { PetRepository } from './ports/pet-repository.js';
import type { CompleteStore, Store } from './ports/store.js';

/** The two stores of a copy. Both stay open: the caller closes them. */
export interface CopyDependencies {
  /** Only read. Nothing may write to it meanwhile. */
  readonly source: Store;
  /** Without animals, claims and keys, and without an id that was ever assigned. Nothing else may use it meanwhile. */
  readonly target: Store;
  /** Tells which claims are live. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** Options of a copy. Its `signal` ends it; the target then holds a part and cannot be used. */
export interface CopyOptions extends Call {
  /** How many records are read and written at once. Default: 1,000. */
  readonly batchSize?: number | undefined;
  /** Called after every batch of animals. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** How far a copy has come. */
export interface CopyProgress {
  /** Animals are first copied, then all compared. */
  readonly phase: 'copying' | 'comparing';
  /** How many animals of this phase are done. */
  readonly done: number;
  /** How many animals the phase has, as the source estimated; never less than `done`. */
  readonly total: number;
}

/** What both stores hold after a copy. */
export interface CopyReport {
  /** Number of animals. */
  readonly pets: number;
  /** Number of claims that were live when the copy began. Lapsed claims are not copied. */
  readonly claims: number;
  /** Number of managed API keys, including expired and revoked ones. */
  readonly apiKeys: number;
  /** New animals in the target get greater ids than this. */
  readonly lastId: bigint;
}

/** Why a copy failed. After `not_equal` the target must not be used. */
export type CopyFault =
  'not_copyable' | 'source_empty' | 'source_unfinished' | 'target_not_empty' | 'not_equal';

const COPY_FAULTS: Readonly<Record<CopyFault, string>> = {
  not_copyable: 'One of the stores does not support copying: it has no transfer or keeps no API keys.',
  source_empty: 'The source is empty: check its URL. Nothing was written.',
  source_unfinished: 'The source is itself a copy that has not finished. Nothing was written.',
  target_not_empty:
    'The target is not empty, or has assigned ids before: choose a new one. Nothing was written.',
  not_equal:
    'The target differs from the source. Stop all writes to the source, and copy again into a new target.',
};

/** A catalogue was not copied. The source is unchanged. */
export class CopyError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'CopyError';
  /** Why, for programs. */
  readonly fault: CopyFault;

  /** @param detail where it shows, such as "animal 7"; without secrets. */
  constructor(fault: CopyFault, detail?: string) {
    super(COPY_FAULTS[fault] + (detail === undefined ? '' : ` (${detail})`));
    this.fault = fault;
  }
}

/**
 * Copies a catalogue into an empty store: animals under their ids, API keys, live claims, and the greatest id. Resolves
 * after reading both stores again and finding the same animals and API keys, and as many claims. What is written to the
 * source after it was compared is not noticed. Until it resolves, the target is marked as unfinished.
 * @throws {CopyError} with its fault. Also rejects with what the stores reject with, or with the signal's reason.
 */
export const copyCatalogue =
  ({ source, target, clock = systemClock }: CopyDependencies) =>
  async ({ batchSize = 1000, onProgress = () => {}, signal }: CopyOptions = {}): Promise<CopyReport> => {
    const [from, to] = [copyable(source), copyable(target)];
    const now = timeOf(clock);
    const call = { signal };
    const { pets: total, lastId } = await from.transfer.survey(call);
    if (await isEmpty(from, call)) throw new CopyError('source_empty');
    if (await from.transfer.isUnfinished(call)) throw new CopyError('source_unfinished');
    if (!(await isEmpty(to, call))) throw new CopyError('target_not_empty');
    await to.transfer.markUnfinished(true, call);
    const counter = (phase: CopyProgress['phase']) => {
      let done = 0;
      return (count: number): void => {
        done += count;
        onProgress({ phase, done, total: Math.max(done, total) });
      };
    };

    // Reserved first: whatever ends the copy, the target never assigns an id that the source has used.
    await to.transfer.reserveIds(lastId, call);
    const copied = counter('copying');
    const petsOf = (pets: PetRepository) =>
      batches<Pet>((last) => pets.list({ after: last?.id, limit: batchSize }, call));
    for await (const batch of petsOf(from.pets)) {
      await to.transfer.writePets(batch, call);
      copied(batch.length);
    }
    let claims = 0;
    const claimsOf = (transfer: CatalogueTransfer) =>
      batches<PetClaim>((after) => transfer.readClaims({ after, limit: batchSize, now }, call));
    for await (const batch of claimsOf(from.transfer)) {
      await to.transfer.writeClaims(batch, call);
      claims += batch.length;
    }
    const apiKeys = await from.apiKeys.list(call);
    for (const apiKey of apiKeys) await to.apiKeys.add(apiKey, call);

    const compared = counter('comparing');
    const copies = petsOf(to.pets);
    let pets = 0;
    for await (const batch of petsOf(from.pets)) {
      requireSamePets(batch, (await copies.next()).value ?? []);
      compared(batch.length);
      pets += batch.length;
    }
    requireSamePets([], (await copies.next()).value ?? []);
    if (!areSameKeys(await from.apiKeys.list(call), await to.apiKeys.list(call))) {
      throw new CopyError('not_equal', 'API keys');
    }
    // Counted, not compared: their order is each store's own.
    let copiedClaims = 0;
    for await (const batch of claimsOf(to.transfer)) copiedClaims += batch.length;
    if (copiedClaims !== claims) throw new CopyError('not_equal', 'number of idempotency keys');
    await to.transfer.markUnfinished(false, call);
    return { pets, claims, apiKeys: apiKeys.length, lastId };
  };

/** Whether nothing was ever stored: without an id that was assigned there was no animal, and no claim. */
async function isEmpty(
  { apiKeys, transfer }: Pick<CompleteStore, 'apiKeys' | 'transfer'>,
  call: Call,
): Promise<boolean> {
  const { pets, lastId } = await transfer.survey(call);
  return pets === 0 && lastId === 0n && (await apiKeys.list(call)).length === 0;
}

function copyable({ pets, apiKeys, transfer }: Store): Pick<CompleteStore, 'pets' | 'apiKeys' | 'transfer'> {
  if (apiKeys === undefined || transfer === undefined) throw new CopyError('not_copyable');
  return { pets, apiKeys, transfer };
}

/** The batches that follow each other, where `read` returns the one after a record. */
async function* batches<T>(
  read: (after: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let batch = await read(undefined); batch.length > 0; batch = await read(batch.at(-1))) yield batch;
}

function requireSamePets(pets: readonly Pet[], copies: readonly Pet[]): void {
  for (let index = 0; index < Math.max(pets.length, copies.length); index += 1) {
    const [pet, copy] = [pets[index], copies[index]];
    if (!pet || !copy || !isSamePet(pet, copy)) {
      throw new CopyError('not_equal', `animal ${(pet ?? copy)?.id}`);
    }
  }
}

function areSameKeys(some: readonly ApiKeyRecord[], others: readonly ApiKeyRecord[]): boolean {
  // Stores may order the fields differently.
  const fields = Object.keys(Object.assign({}, ...some, ...others));
  return JSON.stringify(some, fields) === JSON.stringify(others, fields);
}
