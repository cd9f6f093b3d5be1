import { ObjectId, type AnyBulkWriteOperation, type Collection } from 'mongodb';
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
import { claimId, claimName, toClaim, type ClaimDocument } from './claim-document.js';
import type { MongoConnection } from './mongo-connection.js';
import { toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import type { Attempt } from './retry.js';

/** How long a batch may take, in milliseconds: an election must not end a copy. */
const BATCH_TIMEOUT = 60_000;

/**
 * Moves all of a store in a MongoDB database. A claim whose animal is missing is not read: its create was interrupted
 * between the two, and never acknowledged.
 */
export class MongoCatalogueTransfer implements CatalogueTransfer {
  readonly #connection: MongoConnection;
  readonly #pets: Collection<PetDocument>;
  readonly #claims: Collection<ClaimDocument>;
  readonly #inserts: PetInserts;

  constructor(connection: MongoConnection, inserts: PetInserts) {
    this.#connection = connection;
    this.#pets = connection.collection('pets');
    this.#claims = connection.collection('claims');
    this.#inserts = inserts;
  }

  survey(call?: Call): Promise<CatalogueSurvey> {
    return this.#run('surveying the store', call, async (options) => {
      const lastId = await this.#inserts.lastId(options);
      // From the metadata of the collection, which is not exact.
      const pets = await this.#pets.estimatedDocumentCount(options);
      const isEmpty = (await this.#pets.findOne({}, { ...options, projection: { _id: 1 } })) === null;
      return { pets: isEmpty ? 0 : Math.max(1, pets), lastId };
    });
  }

  reserveIds(last: bigint, call?: Call): Promise<void> {
    return this.#run('reserving ids', call, (options) => this.#inserts.reserve(last, options));
  }

  writePets(pets: readonly Pet[], call?: Call): Promise<void> {
    const operations = pets.map((pet): AnyBulkWriteOperation<PetDocument> => {
      const { _id, ...fields } = toPetDocument(pet.id, pet, new ObjectId());
      return { updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true } };
    });
    return this.#run('writing animals', call, async (options) => {
      if (operations.length > 0) await this.#pets.bulkWrite(operations, { ...options, ordered: false });
    });
  }

  readClaims({ after, limit, now }: ClaimRange, call?: Call): Promise<readonly PetClaim[]> {
    const live = { $gt: new Date(now) };
    return this.#run('reading claims', call, async (options) => {
      for (let start = after === undefined ? '' : claimId(after); ;) {
        const found = await this.#claims
          .find({ _id: { $gt: start }, keepUntil: live }, { ...options, sort: { _id: 1 }, limit })
          .toArray();
        const kept = await this.#withAnimals(found.map(toClaim), options);
        const last = found.at(-1);
        // An empty batch ends the claims, so one without animals is passed over.
        if (kept.length > 0 || last === undefined) return kept;
        start = last._id;
      }
    });
  }

  writeClaims(claims: readonly PetClaim[], call?: Call): Promise<void> {
    const given = claims.map((claim) => ({ ...claim, keepUntil: new Date(claim.keepUntil) }));
    return this.#run('writing claims', call, async (options) => {
      const ids = given.map(({ petId }) => petId);
      const pets = await this.#findPets(ids, options);
      const operations = given.map(({ fingerprint, keepUntil, petId, ...name }) => {
        const found = pets.get(petId);
        if (found === undefined) {
          const cause = new Error(`the animal ${petId} of a claim is not stored`);
          throw new UnavailableError('writing claims', { cause });
        }
        // The claim has the operation of its animal, or honouring it would add another one.
        const pet = toPetDocument(petId, toPet(found), found.operation);
        const replacement = { fingerprint, keepUntil, pet };
        return { replaceOne: { filter: { _id: claimId(name) }, replacement, upsert: true } };
      });
      if (operations.length > 0) await this.#claims.bulkWrite(operations, { ...options, ordered: false });
    });
  }

  #run<Result>(
    doing: string,
    { signal }: Call = {},
    attempt: (options: Attempt) => Promise<Result>,
  ): Promise<Result> {
    return this.#connection.run(doing, { signal, timeout: BATCH_TIMEOUT }, attempt);
  }

  /** The claims whose animals are stored, each as what it created. */
  async #withAnimals(claims: readonly ClaimDocument[], options: Attempt): Promise<PetClaim[]> {
    const ids = claims.map(({ pet }) => pet._id);
    const pets = await this.#findPets(ids, options);
    return claims
      .filter(({ pet }) => pet.operation.equals(pets.get(pet._id)?.operation))
      .map(({ _id, fingerprint, keepUntil, pet }) =>
        Object.assign(claimName(_id), { fingerprint, petId: pet._id, keepUntil }),
      );
  }

  /** The stored animals of these ids, by id. */
  async #findPets(ids: readonly bigint[], options: Attempt): Promise<Map<bigint | undefined, PetDocument>> {
    const found = await this.#pets.find({ _id: { $in: ids } }, options).toArray();
    return new Map(found.map((pet) => [toInt64(pet._id), pet]));
  }
}
