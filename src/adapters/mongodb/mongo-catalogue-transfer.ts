import { createHash } from 'node:crypto';
import { BSON, ObjectId, type Collection, type Filter } from 'mongodb';
import type { Call } from '../../application/call.js';
import { byAge, type ApiKeyRecord } from '../../application/ports/api-key-repository.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimBatch,
  KeptClaim,
  PetBatch,
} from '../../application/ports/catalogue-transfer.js';
import { StoreUnavailableError } from '../../domain/errors.js';
import { INT64_MAX, toInt64 } from '../../domain/int64.js';
import type { Pet } from '../../domain/pet.js';
import { abortable } from './abortable.js';
import { toApiKey, toApiKeyDocument, type ApiKeyDocument, type FoundApiKey } from './api-key-document.js';
import { wroteAll } from './bulk-write.js';
import { claimId, readClaim, readClaimId, type ClaimDocument, type FoundClaim } from './claim-document.js';
import { greatestId } from './greatest-id.js';
import { MongoSession, type MongoConnection, type Patience } from './mongo-connection.js';
import { UndecidedError, isDuplicateKey } from './mongo-error.js';
import { PET_FIELDS, toPet, toPetDocument, type FoundPet, type PetDocument } from './pet-document.js';
import type { Counter } from './pet-ids.js';
import { nameOf } from './refused-documents.js';

/** Nobody waits for an answer: a batch has the time that it takes, and an election does not end a copy. */
const BATCH: Patience = { timeout: 60_000, attemptTimeout: 30_000 };

/** Counting takes an index in full. */
const COUNT: Patience = { timeout: 300_000, attemptTimeout: 300_000 };

const READ = { maxTimeMS: BATCH.attemptTimeout } as const;

const WRITE = {
  ...READ,
  ordered: false,
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: BATCH.attemptTimeout },
} as const;

type KnownPet = FoundPet & { readonly operation?: unknown };

/**
 * All of a store in a MongoDB database. A document that this program cannot read (another program's) is never left
 * out: reading rejects, and names it. A claim whose animal was not kept is not read: its add was cut off between
 * the two, and never answered.
 */
export class MongoCatalogueTransfer implements CatalogueTransfer {
  readonly #session: MongoSession;
  readonly #pets: Collection<PetDocument>;
  readonly #claims: Collection<ClaimDocument>;
  readonly #keys: Collection<ApiKeyDocument>;
  readonly #counters: Collection<Counter>;

  constructor(connection: MongoConnection) {
    this.#pets = connection.collection('pets');
    this.#claims = connection.collection('claims');
    this.#keys = connection.collection('apiKeys');
    this.#counters = connection.collection('counters');
    this.#session = new MongoSession(connection);
  }

  /**
   * The revision is made of the count of animals, the greatest id, the counter of ids and all that the keys have:
   * it does not see animals that another program changes, or replaces by as many others below the greatest id.
   */
  async survey(call: Call = {}): Promise<CatalogueSurvey> {
    const counting = { signal: call.signal, patience: COUNT };
    const pets = await this.#session.run('counting the animals', counting, (signal) =>
      this.#pets.countDocuments({ _id: { $gt: 0n } }, abortable({ maxTimeMS: COUNT.attemptTimeout }, signal)),
    );
    return this.#run('surveying the store', call, async (signal) => {
      const any = await this.#pets.findOne({}, abortable({ ...READ, projection: { _id: 1 } }, signal));
      const greatest = await greatestId(this.#pets, 0n, abortable(READ, signal));
      const counter = await this.#counters.findOne({ _id: 'pets' }, abortable(READ, signal));
      const last = counter === null ? 0n : toInt64(counter.last);
      if (last === undefined) {
        throw new StoreUnavailableError('surveying the store', {
          cause: new Error(
            'the counter of ids is not an integer: set it to the greatest id that was assigned',
          ),
        });
      }
      const keys = await this.#findKeys(signal);
      const digest = createHash('sha256').update(BSON.EJSON.stringify(keys)).digest('hex');
      return {
        empty: any === null && keys.length === 0,
        pets,
        lastId: last > greatest ? last : greatest,
        revision: [pets, greatest, last, digest].join(' '),
        store: await this.#session.connection.petsUuid(signal),
      };
    });
  }

  readPets({ after = 0n, limit }: PetBatch, call: Call = {}): Promise<readonly Pet[]> {
    return this.#run('reading animals', call, async (signal) => {
      if (after >= INT64_MAX) return [];
      if (after <= 0n) await this.#assertIds(signal);
      const start = after < 0n ? 0n : after;
      const found = await this.#pets
        .find<FoundPet>(
          { _id: { $gt: start } },
          abortable({ ...READ, projection: PET_FIELDS, sort: { _id: 1 }, limit, batchSize: limit }, signal),
        )
        .toArray();
      return wholly('pets', found, toPet);
    });
  }

  writePets(pets: readonly Pet[], call: Call = {}): Promise<void> {
    const documents = pets.map((pet) => toPetDocument(pet.id, pet, new ObjectId()));
    return this.#run('writing animals', call, async (signal) => {
      if (documents.length > 0) await wroteAll(this.#pets.insertMany(documents, abortable(WRITE, signal)));
    });
  }

  readClaims({ after, limit, now }: ClaimBatch, call: Call = {}): Promise<readonly KeptClaim[]> {
    const time = new Date(now);
    return this.#run('reading claims', call, async (signal) => {
      const claims: KeptClaim[] = [];
      let start = after === undefined ? '' : claimId(after);
      for (;;) {
        const wanted = limit - claims.length;
        const found = await this.#claims
          .find<FoundClaim>(
            // Not `$gt` alone: one whose time is of another type must not be left out.
            { _id: { $gt: start }, keepUntil: { $not: { $lte: time } } },
            abortable({ ...READ, sort: { _id: 1 }, limit: wanted, batchSize: wanted }, signal),
          )
          .toArray();
        claims.push(...(await this.#keptOf(found.map(readClaim), signal)));
        if (found.length < wanted || claims.length >= limit) return claims;
        start = found.at(-1)?._id ?? start;
      }
    });
  }

  writeClaims(claims: readonly KeptClaim[], call: Call = {}): Promise<void> {
    const given = claims.map((claim) => ({ ...claim, keepUntil: new Date(claim.keepUntil) }));
    return this.#run('writing claims', call, async (signal) => {
      const pets = await this.#findPets(
        given.map(({ petId }) => petId),
        signal,
      );
      const documents = given.map(({ fingerprint, keepUntil, petId, ...claim }): ClaimDocument => {
        const found = pets.get(petId);
        const pet = found && toPet(found);
        // The claim has the operation of its animal, or honouring it would add another one.
        if (pet && found.operation instanceof ObjectId) {
          const { operation } = found;
          return { _id: claimId(claim), fingerprint, keepUntil, pet: toPetDocument(petId, pet, operation) };
        }
        throw new StoreUnavailableError('writing claims', {
          cause: new Error(`the animal ${petId} of a claim is not there as this program wrote it`),
        });
      });
      await replaceAll(this.#claims, documents, signal);
    });
  }

  readApiKeys(call: Call = {}): Promise<readonly ApiKeyRecord[]> {
    return this.#run('reading keys', call, async (signal) =>
      wholly('apiKeys', await this.#findKeys(signal), toApiKey).sort(byAge),
    );
  }

  writeApiKeys(keys: readonly ApiKeyRecord[], call: Call = {}): Promise<void> {
    const documents = keys.map((key) => toApiKeyDocument(key, new ObjectId()));
    return this.#run('writing keys', call, (signal) => replaceAll(this.#keys, documents, signal));
  }

  reserveIds(last: bigint, call: Call = {}): Promise<void> {
    return this.#run('reserving ids', call, async (signal) => {
      if (last <= 0n) return;
      try {
        await this.#counters.updateOne(
          { _id: 'pets' },
          { $max: { last } },
          abortable({ ...WRITE, upsert: true }, signal),
        );
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        throw new UndecidedError('two made the counter of ids at once', { cause: error });
      }
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #run<Result>(
    doing: string,
    { signal }: Call,
    attempt: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    return this.#session.run(doing, { signal, patience: BATCH }, attempt);
  }

  /** Ids that are no positive numbers are in no batch. */
  async #assertIds(signal: AbortSignal): Promise<void> {
    const filter = { _id: { $not: { $gt: 0n } } };
    const options = abortable({ ...READ, projection: { _id: 1 }, limit: 10 }, signal);
    wholly('pets', await this.#pets.find<FoundPet>(filter, options).toArray(), () => undefined);
  }

  /** Sorted, for the digest. */
  #findKeys(signal: AbortSignal): Promise<FoundApiKey[]> {
    return this.#keys.find<FoundApiKey>({}, abortable({ ...READ, sort: { _id: 1 } }, signal)).toArray();
  }

  /** The claims whose animals are there, each as what it created. */
  async #keptOf(claims: readonly ClaimDocument[], signal: AbortSignal): Promise<KeptClaim[]> {
    const pets = await this.#findPets(
      claims.map(({ pet }) => pet._id),
      signal,
    );
    return claims
      .filter(({ pet }) => pet.operation.equals(pets.get(pet._id)?.operation as ObjectId))
      .map(({ _id, fingerprint, keepUntil, pet }) =>
        Object.assign(readClaimId(_id), { fingerprint, petId: pet._id, keepUntil }),
      );
  }

  /** The animals of these ids that are there, by their ids, with the operations that they are known by. */
  async #findPets(ids: readonly bigint[], signal: AbortSignal): Promise<Map<bigint | undefined, KnownPet>> {
    const filter = { _id: { $in: ids } };
    const options = abortable({ ...READ, projection: { ...PET_FIELDS, operation: 1 } }, signal);
    const found = await this.#pets.find<KnownPet>(filter, options).toArray();
    return new Map(found.map((pet) => [toInt64(pet._id), pet]));
  }
}

/** Writes each in the place of the one with its `_id`. */
async function replaceAll<Schema extends { readonly _id: string }>(
  collection: Collection<Schema>,
  documents: readonly Schema[],
  signal: AbortSignal,
): Promise<void> {
  if (documents.length === 0) return;
  const operations = documents.map((replacement) => ({
    replaceOne: { filter: { _id: replacement._id } as Filter<Schema>, replacement, upsert: true },
  }));
  if (!(await wroteAll(collection.bulkWrite(operations, abortable(WRITE, signal))))) {
    throw new UndecidedError(`two made the same document in ${collection.collectionName} at once`);
  }
}

/** @throws {StoreUnavailableError} naming the documents that `read` makes nothing of. */
function wholly<Found extends { readonly _id?: unknown }, Read>(
  collection: string,
  found: readonly Found[],
  read: (document: Found) => Read | undefined,
): Read[] {
  const refused: unknown[] = [];
  const all = found.flatMap((document) => {
    const value = read(document);
    if (value === undefined) refused.push(document._id);
    return value ?? [];
  });
  if (refused.length === 0) return all;
  const names = refused.slice(0, 10).map(nameOf).join(', ');
  const more = refused.length > 10 ? ` and ${refused.length - 10} more` : '';
  throw new StoreUnavailableError(`reading ${collection}`, {
    cause: new Error(
      `the documents ${names}${more} in ${collection} cannot be copied, for their fields are missing, of wrong types ` +
        'or not valid: mend or remove them',
    ),
  });
}
