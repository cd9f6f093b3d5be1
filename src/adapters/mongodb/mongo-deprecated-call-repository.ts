import { MongoBulkWriteError, type AnyBulkWriteOperation, type Collection } from 'mongodb';
import type { Call } from '../../application/call.js';
import {
  byDayOperationAndKey,
  type DeprecatedCallBatch,
  type DeprecatedCallQuery,
  type DeprecatedCallRepository,
  type DeprecatedCalls,
} from '../../application/ports/deprecated-call-repository.js';
import { abortable, SERVER_LIMIT } from './abortable.js';
import { unwrapped } from './bulk-write.js';
import {
  countsId,
  firstIdOf,
  toCounts,
  type DeprecatedCallsDocument,
  type FoundDeprecatedCalls,
} from './deprecated-calls-document.js';
import { MongoSession, type MongoConnection } from './mongo-connection.js';
import { RefusedDocuments } from './refused-documents.js';

/**
 * Codes of a document that cannot be added to, whenever it is tried: BadValue, TypeMismatch and
 * DocumentValidationFailure. Another program wrote it.
 */
const SPOILED_CODES = new Set<unknown>([2, 14, 121]);

const DUPLICATE_KEY = 11_000;

/** How many documents are written by one command, which a slow server can do in the time of one attempt. */
const PART_SIZE = 100;

/** How many batches a document remembers: what is repeated is recognised until so many others were added to it. */
const REMEMBERED = 20;

/**
 * Counts of deprecated calls in a MongoDB database, one document for each day, operation and key. A batch that
 * is repeated because its answer was lost counts once, unless more than 20 batches of other processes were added
 * to the same document in between. A document that holds no counts (another program's) is neither read nor
 * added to, and told of once.
 */
export class MongoDeprecatedCallRepository implements DeprecatedCallRepository {
  readonly #session: MongoSession;
  readonly #counts: Collection<DeprecatedCallsDocument>;
  readonly #refused: RefusedDocuments;

  constructor(connection: MongoConnection) {
    this.#counts = connection.collection('deprecatedCalls');
    this.#refused = new RefusedDocuments('deprecatedCalls', connection.tell);
    this.#session = new MongoSession(connection);
  }

  async record({ id, counts }: DeprecatedCallBatch, call: Call = {}): Promise<void> {
    // Taken now: the caller may change its dates as soon as it has the promise.
    const added = counts.map((counted) => ({ ...counted, lastAt: new Date(counted.lastAt) }));
    // Begun at least once: also an empty batch is refused when the repository is closed.
    for (let start = 0; start === 0 || start < added.length; start += PART_SIZE) {
      const part = added.slice(start, start + PART_SIZE);
      await this.#session.run('counting deprecated calls', call, async (signal) => {
        const taken = await this.#add(id, part, { upsert: true }, signal);
        // Another process made the document at the same time, or this batch was added to it before.
        await this.#add(id, taken, { upsert: false }, signal);
      });
    }
  }

  list({ since = '' }: DeprecatedCallQuery = {}, call: Call = {}): Promise<readonly DeprecatedCalls[]> {
    return this.#session.run('listing deprecated calls', call, async (signal) => {
      const found = await this.#counts
        .find<FoundDeprecatedCalls>(
          { _id: { $gte: firstIdOf(since) } },
          abortable({ projection: { calls: 1, lastAt: 1 }, ...SERVER_LIMIT }, signal),
        )
        .toArray();
      // Sorted here, for MongoDB compares text by code point.
      return found
        .flatMap((document) => toCounts(document) ?? this.#refused.tell(document._id) ?? [])
        .sort(byDayOperationAndKey);
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** Adds to each document that does not have the batch yet. Resolves to those that could not be made: they are there. */
  async #add(
    batch: string,
    counts: readonly DeprecatedCalls[],
    { upsert }: { readonly upsert: boolean },
    signal: AbortSignal,
  ): Promise<readonly DeprecatedCalls[]> {
    if (counts.length === 0) return [];
    const writes = counts.map((counted): AnyBulkWriteOperation<DeprecatedCallsDocument> => ({
      updateOne: {
        filter: { _id: { $eq: countsId(counted) }, batches: { $ne: batch } },
        update: {
          $inc: { calls: BigInt(counted.calls) },
          $max: { lastAt: counted.lastAt },
          $push: { batches: { $each: [batch], $slice: -REMEMBERED } },
        },
        upsert,
      },
    }));
    try {
      await this.#counts.bulkWrite(writes, abortable({ ordered: false, ...SERVER_LIMIT }, signal));
      return [];
    } catch (caught) {
      const error = unwrapped(caught);
      if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError()) throw error;
      const faults = [error.writeErrors].flat();
      const spoiled = faults.filter(({ code }) => SPOILED_CODES.has(code));
      const taken = faults.filter(({ code }) => code === DUPLICATE_KEY);
      if (faults.length === 0 || spoiled.length + taken.length < faults.length) throw error;
      for (const { index } of spoiled) this.#refused.tell(counts[index] && countsId(counts[index]));
      return taken.flatMap(({ index }) => counts[index] ?? []);
    }
  }
}
