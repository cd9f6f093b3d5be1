import { ObjectId, type Collection, type Filter } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimRange,
  PetClaim,
} from '../../application/ports/catalogue-transfer.js';
import { UnavailableError } from '../../domain/errors.js';
import { toInt64 } from '../../domain/int64.js';
import type { Pet } from '../../domain/pet.js';
import { abortable } from './abortable.js';
import { wroteAll } from './bulk-write.js';
import { claimId, readClaim, readClaimId, type ClaimDocument, type FoundClaim } from './claim-document.js';
import { greatestId } from './greatest-id.js';
import { MongoSession, type MongoConnection, type Patience } from './mongo-connection.js';
import { UndecidedError, isDuplicateKey } from './mongo-error.js';
import { PET_FIELDS, toPet, toPetDocument, type FoundPet, type PetDocument } from './pet-document.js';
import type { Counter } from './pet-ids.js';

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
  readonly #counters: Collection<Counter>;

  constructor(connection: MongoConnection) {
    this.#pets = connection.collection('pets');
    this.#claims = connection.collection('claims');
    this.#counters = connection.collection('counters');
    this.#session = new MongoSession(connection);
  }

  async survey(call: Call = {}): Promise<CatalogueSurvey> {
    const counting = { signal: call.signal, patience: COUNT };
    const pets = await this.#session.run('counting the animals', counting, (signal) =>
      this.#pets.countDocuments({ _id: { $gt: 0n } }, abortable({ maxTimeMS: COUNT.attemptTimeout }, signal)),
    );
    return this.#run('surveying the store', call, async (signal) => {
      const greatest = await greatestId(this.#pets, 0n, abortable(READ, signal));
      const counter = await this.#counters.findOne({ _id: 'pets' }, abortable(READ, signal));
      const last = toInt64(counter?.last) ?? 0n;
      return { pets, lastId: last > greatest ? last : greatest };
    });
  }

  writePets(pets: readonly Pet[], call: Call = {}): Promise<void> {
    const documents = pets.map((pet) => toPetDocument(pet.id, pet, new ObjectId()));
    return this.#run('writing animals', call, async (signal) => {
      if (documents.length > 0) await wroteAll(this.#pets.insertMany(documents, abortable(WRITE, signal)));
    });
  }

  readClaims({ after, limit, now }: ClaimRange, call: Call = {}): Promise<readonly PetClaim[]> {
    const time = new Date(now);
    return this.#run('reading claims', call, async (signal) => {
      const claims: PetClaim[] = [];
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

  writeClaims(claims: readonly PetClaim[], call: Call = {}): Promise<void> {
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
        throw new UnavailableError('writing claims', {
          cause: new Error(`the animal ${petId} of a claim is not there as this program wrote it`),
        });
      });
      await replaceAll(this.#claims, documents, signal);
    });
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

  /** The claims whose animals are there, each as what it created. */
  async #keptOf(claims: readonly ClaimDocument[], signal: AbortSignal): Promise<PetClaim[]> {
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
