import type { Pet } from '../domain/pet.js';
import type { Call } from './call.js';
import { claimBatches, petBatches } from './catalogue-batches.js';
import { CatalogueChecksum, petRecord } from './catalogue-checksum.js';
import { areSameKeys, assertKeysOf, findCopiedUpTo } from './catalogue-comparison.js';
import { CopyError } from './copy-error.js';
import type { CatalogueSurvey, CatalogueTransfer } from './ports/catalogue-transfer.js';
import { systemClock, type Clock } from './ports/clock.js';

/** The two stores of a copy. Both stay open: whoever opened them closes them. */
export interface CopyDependencies {
  /** Is only read. */
  readonly source: CatalogueTransfer;
  /** Empty, or an unfinished copy of the same source; nobody else may use it meanwhile. */
  readonly target: CatalogueTransfer;
  /** Tells which claims are live; the machine's clock when left out. */
  readonly clock?: Clock | undefined;
}

/** How a copy goes about it. Its `signal` ends it; what was written until then stays, to be resumed. */
export interface CopyOptions extends Call {
  /** Goes on with an earlier copy of the same source, whether it was ended early or the source has grown. */
  readonly resume?: boolean | undefined;
  /** How many animals are read and written at once: 1,000 when left out. */
  readonly batchSize?: number | undefined;
  /** Called after every batch. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

/** How far a copy has come. */
export interface CopyProgress {
  /** In this order; comparing only when an earlier copy is resumed. */
  readonly phase: 'comparing' | 'copying' | 'verifying';
  /** How many animals of this phase are done. */
  readonly done: number;
  /**
   * How many animals the phase has: as good as the source's estimate, so `done` may end above or below it.
   */
  readonly total: number;
}

/** What both stores hold now, compared in full. */
export interface CopyReport {
  /** How many animals each store holds. */
  readonly pets: number;
  /** How many of these this run wrote. */
  readonly written: number;
  /** How many claims were live when the copy began; lapsed ones are not copied. */
  readonly claims: number;
  /** How many managed API keys each store holds, expired and revoked ones included. */
  readonly apiKeys: number;
  /** The target goes on with greater ids. */
  readonly lastId: bigint;
  /**
   * SHA-256 over all animals in ascending order of their ids, 64 lower-case hexadecimal digits: the same for
   * equal animals, whatever store they are in.
   */
  readonly checksum: string;
}

/**
 * Copies a catalogue: animals under their ids, live claims, API keys, and how far the ids went. The source is
 * only read, and the target must not be in use.
 *
 * Ids are reserved before the first animal is written, then animals are written in ascending order of their
 * ids: ended at any point (by the signal, a fault, the end of the process), the target holds a part of the
 * source and nothing else. That is what makes resuming safe: the whole target is compared with the source
 * before anything is written, and refused if it holds an animal or a key that the source does not.
 *
 * Resolves only when the target was read again and found equal to the source: by the count and checksum of
 * all animals, by every key, by the count of live claims; and when nothing was written to the source meanwhile.
 * @throws {CopyError} with its fault; else rejects with what the stores reject with, or with the signal's reason.
 */
export const copyCatalogue =
  ({ source, target, clock = systemClock }: CopyDependencies) =>
  async ({
    resume = false,
    batchSize = 1000,
    onProgress = () => {},
    signal,
  }: CopyOptions = {}): Promise<CopyReport> => {
    if (source === target) throw new CopyError('same_store');
    const copy: Copy = { source, target, call: { signal }, batchSize, now: clock.now(), onProgress };
    const before = await source.survey(copy.call);
    if (before.empty) throw new CopyError('source_empty');
    const present = await target.survey(copy.call);
    if (before.store !== undefined && before.store === present.store) throw new CopyError('same_store');
    if (!present.empty && !resume) throw new CopyError('target_not_empty');

    const after = present.empty ? 0n : await compare(copy, present.pets);
    const written = await writePets(copy, before, { after, missing: before.pets - present.pets });
    const claims = await writeClaims(copy);
    await target.writeApiKeys(await source.readApiKeys(copy.call), copy.call);
    return { written, ...(await verify(copy, before, claims)) };
  };

interface Copy {
  readonly source: CatalogueTransfer;
  readonly target: CatalogueTransfer;
  readonly call: Call;
  readonly now: Date;
  readonly batchSize: number;
  readonly onProgress: (progress: CopyProgress) => void;
}

/** Resolves to the id up to which the target has all animals of the source. */
async function compare(copy: Copy, total: number): Promise<bigint> {
  const { source, target, call } = copy;
  assertKeysOf(await source.readApiKeys(call), await target.readApiKeys(call));
  return findCopiedUpTo(petsOf(copy, source), petsOf(copy, target), progress(copy, 'comparing', total));
}

/** Resolves to how many animals were written. */
async function writePets(
  copy: Copy,
  { lastId }: CatalogueSurvey,
  { after, missing }: { readonly after: bigint; readonly missing: number },
): Promise<number> {
  const { source, target, call } = copy;
  const told = progress(copy, 'copying', missing);
  let reserved = lastId;
  await target.reserveIds(reserved, call);
  let written = 0;
  for await (const batch of petsOf(copy, source, after)) {
    const last = batch.at(-1)?.id ?? reserved;
    // Added since the survey.
    if (last > reserved) await target.reserveIds((reserved = last), call);
    await target.writePets(batch, call);
    written += batch.length;
    told(batch.length);
  }
  return written;
}

/** Resolves to how many there are. */
async function writeClaims({ source, target, call, batchSize, now }: Copy): Promise<number> {
  let count = 0;
  for await (const batch of claimBatches(source, batchSize, call, now)) {
    await target.writeClaims(batch, call);
    count += batch.length;
  }
  return count;
}

async function verify(
  copy: Copy,
  before: CatalogueSurvey,
  claims: number,
): Promise<Omit<CopyReport, 'written'>> {
  const { source, target, call, batchSize, now } = copy;
  const told = progress(copy, 'verifying', 2 * before.pets);
  const expected = await checksumOf(petsOf(copy, source), told);
  const actual = await checksumOf(petsOf(copy, target), told);
  let keptClaims = 0;
  for await (const batch of claimBatches(target, batchSize, call, now)) keptClaims += batch.length;
  const apiKeys = await source.readApiKeys(call);
  const keptKeys = await target.readApiKeys(call);

  // Asked last: with the same revision as before, all that was read of the source is of one state.
  if ((await source.survey(call)).revision !== before.revision) throw new CopyError('source_changed');
  const { pets, checksum } = actual;
  if (pets !== expected.pets) throw unequal('animals', expected.pets, pets);
  if (checksum !== expected.checksum) throw unequal('checksum', expected.checksum, checksum);
  if (claims !== keptClaims) throw unequal('claims', claims, keptClaims);
  if (!areSameKeys(apiKeys, keptKeys)) throw unequal('API keys', apiKeys.length, keptKeys.length);
  return { pets, claims, apiKeys: apiKeys.length, lastId: before.lastId, checksum };
}

const unequal = (what: string, expected: string | number, actual: string | number): CopyError =>
  new CopyError('not_verified', `${what}: ${expected} in the source, ${actual} in the target`);

async function checksumOf(
  batches: AsyncIterable<readonly Pet[]>,
  told: (count: number) => void,
): Promise<{ readonly pets: number; readonly checksum: string }> {
  const sum = new CatalogueChecksum();
  for await (const batch of batches) {
    for (const pet of batch) await sum.add(petRecord(pet));
    told(batch.length);
  }
  return { pets: sum.count, checksum: await sum.finish() };
}

const petsOf = ({ batchSize, call }: Copy, store: CatalogueTransfer, after?: bigint) =>
  petBatches(store, batchSize, call, after);

/** Counts the animals that are done, and tells. The total never lags behind, for it may be an estimate. */
function progress(
  { onProgress }: Copy,
  phase: CopyProgress['phase'],
  total: number,
): (count: number) => void {
  let done = 0;
  return (count) => {
    done += count;
    onProgress({ phase, done, total: Math.max(done, total) });
  };
}
