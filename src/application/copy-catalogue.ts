import { isSamePet, type Pet } from '../domain/pet.js';
import type { CallOptions } from './animal-store.js';
import { petPages } from './pet-pages.js';
import type { ApiKeyRecord } from './ports/api-key-repository.js';
import type { CatalogueTransfer, PetClaim } from './ports/catalogue-transfer.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { Store } from './ports/store.js';

/** What to copy, and how. A `signal` ends it; the target then holds a part and cannot be used. */
export interface CopyOptions extends CallOptions {
  /** Only read. Nothing may write to it meanwhile. The caller closes both stores. */
  readonly source: Store;
  /** Without animals, claims and keys, and without an id that was ever assigned. Nothing else may use it meanwhile. */
  readonly target: Store;
  /** Tells which claims are live. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Called after every batch with the number of animals that were copied, then with that of all copied and compared. */
  readonly onProgress?: ((done: number) => void) | undefined;
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

/** How many records are read and written at once. */
const BATCH = 1000;

/**
 * Copies a catalogue into an empty store: animals under their ids, all API keys, the claims that are live, and the
 * greatest id. Resolves to how many, after reading both stores again and finding the same animals and API keys, and as
 * many claims. What is written to the source after it was compared is not noticed. Until it resolves, the target is
 * marked as unfinished.
 * @throws {CopyError} Also rejects with what the stores reject with, or with the signal's reason.
 */
export async function copyCatalogue(options: CopyOptions): Promise<CopiedCatalogue> {
  const { source, target, clock = systemClock, onProgress = () => {}, signal } = options;
  const [from, to] = [copyable(source), copyable(target)];
  const call = { signal };
  if (await from.transfer.isUnfinished(call))
    throw new CopyError('The source is itself a copy that has not finished. Nothing was written.');
  const held = await to.transfer.survey(call);
  // Without an id that was assigned there was no animal, and so no claim.
  if (held.pets > 0 || held.lastId > 0n || (await to.apiKeys.list(call)).length > 0) {
    const why = 'The target is not empty, or has assigned ids before';
    throw new CopyError(`${why}: choose a new one. Nothing was written.`, true);
  }
  await to.transfer.markUnfinished(true, call);

  // Reserved first: whatever ends the copy, the target never assigns an id that the source has used.
  const { lastId } = await from.transfer.survey(call);
  await to.transfer.reserveIds(lastId, call);
  let done = 0;
  for await (const batch of petPages(from.pets, BATCH, call)) {
    await to.transfer.writePets(batch, call);
    onProgress((done += batch.length));
  }
  let claims = 0;
  for await (const batch of claimsOf(from.transfer, timeOf(clock), call)) {
    await to.transfer.writeClaims(batch, call);
    claims += batch.length;
  }
  const apiKeys = await from.apiKeys.list(call);
  for (const apiKey of apiKeys) await to.apiKeys.add(apiKey, call);

  let compared = 0;
  const copies = petPages(to.pets, BATCH, call);
  for await (const batch of petPages(from.pets, BATCH, call)) {
    requireSamePets(batch, (await copies.next()).value ?? []);
    onProgress(done + (compared += batch.length));
  }
  requireSamePets([], (await copies.next()).value ?? []);
  if (!areSameKeys(await from.apiKeys.list(call), await to.apiKeys.list(call)))
    throw differs('API keys');
  // Counted, not compared: their order is each store's own. Both as of now: MongoDB deletes those that expired since.
  const now = timeOf(clock);
  const countOf = ({ transfer }: { readonly transfer: CatalogueTransfer }) =>
    lengthOf(claimsOf(transfer, now, call));
  if ((await countOf(from)) !== (await countOf(to))) throw differs('number of idempotency keys');
  await to.transfer.markUnfinished(false, call);
  return { pets: done, claims, apiKeys: apiKeys.length, lastId };
}

function copyable({ pets, apiKeys, transfer }: Store) {
  if (apiKeys && transfer) return { pets, apiKeys, transfer };
  throw new CopyError(
    'One of the stores does not support copying: it has no transfer or keeps no API keys.',
    true,
  );
}

/** Every claim that is live, in batches. */
async function* claimsOf(
  transfer: CatalogueTransfer,
  now: number,
  call: CallOptions,
): AsyncGenerator<readonly PetClaim[]> {
  for (let after: PetClaim | undefined; ;) {
    const batch = await transfer.readClaims({ after, limit: BATCH, now }, call);
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
    const [pet, copy] = [pets[index], copies[index]];
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
