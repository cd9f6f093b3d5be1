import { isSamePet, type Pet } from '../domain/pet.js';
import type { CallOptions } from './animal-store.js';
import { petPages } from './pet-pages.js';
import type { ApiKeyRecord } from './ports/api-key-repository.js';
import type { PetClaim } from './ports/catalogue-transfer.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { Store } from './ports/store.js';

/** A catalogue was not copied: the message says why, without secrets. The source is unchanged. */
export class CopyError extends Error {
  // A literal: minifiers rename classes.
  override readonly name = 'CopyError';
  /** Whether only a person can mend it, because the stores do not fit. Nothing was written. */
  readonly isLasting: boolean;

  constructor(message: string, isLasting = false) {
    super(message);
    this.isLasting = isLasting;
  }
}

/** How much was copied. */
export interface CopiedCatalogue {
  readonly pets: number;
  /** Live claims. */
  readonly claims: number;
  readonly apiKeys: number;
  /** The greatest id that the source has assigned: the target assigns greater ones. */
  readonly lastId: bigint;
}

/** How many records are read and written at once. */
const BATCH = 1000;

/**
 * Copies a catalogue into an empty store: animals under their ids, all API keys, the claims that are live, and the
 * greatest id. Resolves to how many, after reading both stores again and finding the same animals and API keys, and as
 * many claims. What is written to the source after it was compared is not noticed. Until it resolves, also after an
 * abort, the target is marked as unfinished and cannot be used.
 * @throws {CopyError} Also rejects with what the stores reject with, or with the signal's reason.
 */
export async function copyCatalogue({
  source,
  target,
  clock = systemClock,
  onProgress = () => {},
  signal,
}: CallOptions & {
  /** Only read. Nothing may write to it meanwhile. The caller closes both stores. */
  readonly source: Store;
  /** Without animals, claims and keys, and without an id that was ever assigned. Nothing else may use it meanwhile. */
  readonly target: Store;
  /** Tells which claims are live. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Called after every batch with the number of animals that were copied, then with that of all copied and compared. */
  readonly onProgress?: ((done: number) => void) | undefined;
}): Promise<CopiedCatalogue> {
  const copy: Copy = { from: copyable(source), to: copyable(target), clock, options: { signal } };
  await requireCopyable(copy);
  await copy.to.transfer.markUnfinished(true, copy.options);
  const copied = await copyAll(copy, onProgress);
  await compareAll(copy, (compared) => onProgress(copied.pets + compared));
  await copy.to.transfer.markUnfinished(false, copy.options);
  return copied;
}

/** What every step of a copy needs. */
interface Copy {
  readonly from: CopyableStore;
  readonly to: CopyableStore;
  readonly clock: Clock;
  readonly options: CallOptions;
}

type CopyableStore = ReturnType<typeof copyable>;

function copyable({ pets, apiKeys, transfer }: Store) {
  if (apiKeys && transfer) return { pets, apiKeys, transfer };
  throw new CopyError(
    'One of the stores does not support copying: it has no transfer or keeps no API keys.',
    true,
  );
}

async function requireCopyable({ from, to, options }: Copy): Promise<void> {
  if (await from.transfer.isUnfinished(options))
    throw new CopyError('The source is itself a copy that has not finished. Nothing was written.');
  // Without an id that was assigned there was no animal, and so no claim.
  const { pets, lastId } = await to.transfer.survey(options);
  const apiKeys = await to.apiKeys.list(options);
  if (pets === 0 && lastId === 0n && apiKeys.length === 0) return;
  const why = 'The target is not empty, or has assigned ids before';
  throw new CopyError(`${why}: choose a new one. Nothing was written.`, true);
}

async function copyAll({ from, to, clock, options }: Copy, onProgress: (copied: number) => void) {
  // Reserved first: whatever ends the copy, the target never assigns an id that the source has used.
  const { lastId } = await from.transfer.survey(options);
  await to.transfer.reserveIds(lastId, options);
  let pets = 0;
  for await (const batch of petPages(from.pets, BATCH, options)) {
    await to.transfer.writePets(batch, options);
    pets += batch.length;
    onProgress(pets);
  }
  let claims = 0;
  for await (const batch of claimsOf(from, timeOf(clock), options)) {
    await to.transfer.writeClaims(batch, options);
    claims += batch.length;
  }
  const apiKeys = await from.apiKeys.list(options);
  for (const apiKey of apiKeys) await to.apiKeys.add(apiKey, options);
  return { pets, claims, apiKeys: apiKeys.length, lastId };
}

/** @throws {CopyError} the stores differ. */
async function compareAll(
  { from, to, clock, options }: Copy,
  onProgress: (compared: number) => void,
): Promise<void> {
  let after: bigint | undefined;
  let compared = 0;
  for await (const batch of petPages(from.pets, BATCH, options)) {
    // Equal stores have equal pages, because both have pages of the same size.
    requireSamePets(batch, await to.pets.list({ after, limit: BATCH }, options));
    after = batch.at(-1)?.id;
    compared += batch.length;
    onProgress(compared);
  }
  requireSamePets([], await to.pets.list({ after, limit: 1 }, options));
  if (!areSameKeys(await from.apiKeys.list(options), await to.apiKeys.list(options)))
    throw differs('API keys');
  // Counted, not compared: their order is each store's own. Both as of now: MongoDB deletes those that expired since.
  const now = timeOf(clock);
  const claims = await lengthOf(claimsOf(from, now, options));
  const copiedClaims = await lengthOf(claimsOf(to, now, options));
  if (claims !== copiedClaims) throw differs('number of idempotency keys');
}

/** Every claim that is live, in batches. */
async function* claimsOf(
  { transfer }: CopyableStore,
  now: number,
  options: CallOptions,
): AsyncGenerator<readonly PetClaim[]> {
  let after: PetClaim | undefined;
  for (;;) {
    const batch = await transfer.readClaims({ after, limit: BATCH, now }, options);
    if (batch.some(({ scope, key }) => scope === after?.scope && key === after.key))
      throw new TypeError('The claims after a claim include it: reading them makes no progress.');
    if (batch.length === 0) return;
    yield batch;
    after = batch.at(-1);
  }
}

async function lengthOf(all: AsyncIterable<readonly unknown[]>): Promise<number> {
  let length = 0;
  for await (const batch of all) length += batch.length;
  return length;
}

function requireSamePets(pets: readonly Pet[], copies: readonly Pet[]): void {
  for (let index = 0; index < Math.max(pets.length, copies.length); index += 1) {
    const pet = pets[index];
    const copy = copies[index];
    if (!pet || !copy || !isSamePet(pet, copy)) throw differs(`animal ${(pet ?? copy)?.id}`);
  }
}

function areSameKeys(some: readonly ApiKeyRecord[], others: readonly ApiKeyRecord[]): boolean {
  // Stores may order the fields differently.
  const fields = [...new Set(some.concat(others).flatMap(Object.keys))];
  return JSON.stringify(some, fields) === JSON.stringify(others, fields);
}

/** @param where it differs, without secrets. */
const differs = (where: string): CopyError =>
  new CopyError(
    `The target differs from the source (${where}). Stop all writes to the source, and copy again into a new target.`,
  );
