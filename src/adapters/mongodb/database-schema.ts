import type { Db, IndexDescription, IndexDescriptionInfo } from 'mongodb';
import type { notices } from '../../application/ports/store.js';
import { UnavailableError } from '../../domain/errors.js';
import { PET_STATUSES } from '../../domain/pet-status.js';
import { shownId } from './mongo-errors.js';
import type { AttemptOptions } from './retry.js';

/** The version of the schema, which the counter of ids holds. Version 0.3 wrote none there. */
export const SCHEMA_VERSION = 4;

/** How long the server keeps expired claims and what is left of animals, in seconds, for calls whose clock is behind. */
const SWEEP_DELAY = 60 * 60;

/**
 * The indexes beside those of `_id`. Queries use `_id` or its order, so all collections can be sharded by the hashed
 * `_id`. That forbids other unique indexes, and none is needed: a claim is the `_id` of its document, and the hash of an
 * API key covers the key's id.
 */
const INDEXES: ReadonlyArray<IndexDescription & { readonly on: string }> = [
  {
    on: 'pets',
    name: 'status_1__id_1',
    key: { status: 1, _id: 1 },
  },
  {
    on: 'pets',
    name: 'removedUntil_1',
    key: { removedUntil: 1 },
    expireAfterSeconds: SWEEP_DELAY,
    sparse: true,
  },
  {
    on: 'claims',
    name: 'keepUntil_1',
    key: { keepUntil: 1 },
    expireAfterSeconds: SWEEP_DELAY,
  },
];

/** The options that no collection of a store may have, and why. */
const UNFIT = {
  capped: 'is capped: it would drop animals',
  collation: 'has a collation: keys that differ would be one',
  expireAfterSeconds: 'deletes old documents',
  timeseries: 'is a time series',
  viewOn: 'is a view',
} as const;

/** @throws {UnavailableError} another version of this program made the store: its cause says so. */
export async function refuseOtherVersion(database: Db, options: AttemptOptions): Promise<void> {
  const counters = database.collection<{ readonly _id: 'pets'; readonly schema?: unknown }>(
    'counters',
  );
  const counter = await counters.findOne({ _id: 'pets' }, options);
  if (counter === null || counter.schema === SCHEMA_VERSION) return;
  const cause = new Error(
    'the database holds a store of another version: use the program that wrote it',
  );
  throw new UnavailableError('checking the database', { cause });
}

/** @throws {UnavailableError} somebody made a collection that cannot keep what the store promises: its cause names it. */
export async function refuseUnfit(database: Db, options: AttemptOptions): Promise<void> {
  const isOfStore = { name: { $in: ['pets', 'claims', 'apiKeys', 'counters'] } };
  const found = await database
    .listCollections(isOfStore, { ...options, nameOnly: false })
    .toArray();
  for (const { name, options: made = {} } of found) {
    const unfit = Object.entries(UNFIT).find(([option]) => option in made);
    if (unfit) {
      const [, fault] = unfit;
      const cause = new Error(`the collection ${name} ${fault}; make it without options`);
      throw new UnavailableError('checking the collections', { cause });
    }
  }
}

/**
 * Creates the missing indexes, with the collections that they are on: on a large collection that takes long. Other
 * processes may do the same. An index of the same keys stays as somebody made it, by any name. One that fails stops no
 * other.
 */
export async function createIndexes(
  database: Db,
  notice: ReturnType<typeof notices>,
  options: AttemptOptions,
): Promise<void> {
  const faults: string[] = [];
  for (const { on, ...index } of INDEXES) {
    // The server rejects if the collection does not exist yet.
    const present = await database
      .collection(on)
      .indexes(options)
      .catch(() => []);
    const same = present.find((other) => isSame(index, other));
    if (same?.hidden) {
      notice(`the index ${same.name} on ${on} is hidden: unhide it, so that queries can use it`);
    }
    if (same) continue;
    try {
      await database.command({ createIndexes: on, indexes: [index] }, options);
      notice(`made the index ${index.name} on ${on}`, 'info');
    } catch (error) {
      const { message } = error as Error;
      faults.push(`the index ${index.name} on ${on}: ${message}`);
    }
  }
  if (faults.length > 0) throw new Error(faults.join('; '));
}

/** Documents that lists pass over: they hold neither an animal nor what is left of one. Found by indexes. */
const UNLISTED = {
  $or: [{ _id: { $not: { $gt: 0n } } }, { status: { $nin: PET_STATUSES }, removedUntil: null }],
} as const;

/** Reports documents of other programs that lists, exports and copies pass over. Names one of them. */
export async function reportUnlisted(
  database: Db,
  notice: ReturnType<typeof notices>,
  options: AttemptOptions,
): Promise<void> {
  const pets = database.collection<{ _id: unknown }>('pets');
  const unlisted = await pets.findOne(UNLISTED as object, { ...options, projection: { _id: 1 } });
  if (unlisted === null) return;
  const statuses = PET_STATUSES.join(', ');
  notice(
    `lists, exports and copies pass over documents in pets, such as ${shownId(unlisted._id)}: ` +
      `an animal has an int64 above 0 as its _id, and the status ${statuses}`,
  );
}

/**
 * Whether an index serves as the one that is wanted: for all documents, comparing and deleting as that one does. A hidden
 * one counts, because the server makes no other beside it.
 */
const isSame = (wanted: IndexDescription, other: IndexDescriptionInfo): boolean =>
  keysOf(wanted) === keysOf(other) &&
  !other.partialFilterExpression &&
  !other.collation &&
  (wanted.expireAfterSeconds === undefined) === (other.expireAfterSeconds === undefined);

const keysOf = ({ key }: IndexDescription): string => Object.entries(key).flat().join();
