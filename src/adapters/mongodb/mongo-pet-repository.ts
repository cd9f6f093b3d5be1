import { ObjectId, type Collection, type Filter } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import type {
  AddedPet,
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
} from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { INT64_MAX, isInt64 } from '../../domain/int64.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { claimId, toClaim, type ClaimDocument } from './claim-document.js';
import type { MongoConnection } from './mongo-connection.js';
import { PET_PROJECTION, toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import { UndecidedError, isDuplicateKey, type Attempt } from './retry.js';

/** Animals in a MongoDB database, shared by any number of processes and machines. */
export class MongoPetRepository implements PetRepository {
  // Not ordered: each process has its own block of ids.
  readonly capabilities = Object.freeze({ durable: true, shared: true });
  readonly #connection: MongoConnection;
  readonly #pets: Collection<PetDocument>;
  readonly #inserts: PetInserts;
  readonly #claims: Collection<ClaimDocument>;

  constructor(connection: MongoConnection, inserts: PetInserts) {
    this.#connection = connection;
    this.#pets = connection.collection('pets');
    this.#claims = connection.collection('claims');
    this.#inserts = inserts;
  }

  async add(given: UnsavedPet, { claim, now = new Date(), signal }: AddOptions = {}): Promise<AddedPet> {
    // Copied now: the caller may change its objects during the call.
    const [pet, operation] = [{ ...given }, new ObjectId()];
    const attempt = claim
      ? this.#addOnce(pet, claim, new Date(now), operation)
      : this.#addNew(pet, operation);
    return this.#connection.run('adding an animal', { signal }, attempt);
  }

  findById(id: bigint, { signal }: Call = {}): Promise<Pet | undefined> {
    return this.#connection.run('reading an animal', { signal }, async (options) => {
      if (!isInt64(id)) return undefined;
      const found = await this.#pets.findOne({ _id: id }, { ...options, projection: PET_PROJECTION });
      return found === null ? undefined : toPet(found);
    });
  }

  list({ after = 0n, limit, status }: PetRange, { signal }: Call = {}): Promise<readonly Pet[]> {
    return this.#connection.run('listing animals', { signal }, async (options) => {
      if (after >= INT64_MAX) return [];
      // With `$eq` a status is always a value, never an operator.
      const filter: Filter<PetDocument> = {
        _id: { $gt: after < 0n ? 0n : after },
        ...(status !== undefined && { status: { $eq: status } }),
      };
      const found = await this.#pets
        .find(filter, { ...options, projection: PET_PROJECTION, sort: { _id: 1 }, limit })
        .toArray();
      return found.map((document) => toPet(document));
    });
  }

  check({ signal }: Call = {}): Promise<void> {
    return this.#connection.run('checking the store', { signal, retry: false }, async (options) => {
      // More than a ping: it needs the primary, and the right to read.
      await this.#pets.findOne({}, { ...options, projection: { _id: 1 } });
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #addNew(pet: UnsavedPet, operation: ObjectId): (options: Attempt) => Promise<AddedPet> {
    let document: PetDocument | undefined;
    return async (options) => {
      document ??= toPetDocument(await this.#inserts.nextId(), pet, operation);
      const kept = await this.#inserts.keep(document, options, (_, id) => {
        document = toPetDocument(id, pet, operation);
        return document;
      });
      return { pet: savedPet(kept._id, kept), replayed: false };
    };
  }

  /**
   * Writes the claim first, with the animal in it, then the animal: whoever finds a claim can finish what its maker did
   * not, and no other animal can result. So every write changes one document, and only `_id` needs a unique index. If
   * somebody deletes the animal by hand, a retry while the claim lasts restores it.
   */
  #addOnce(
    pet: UnsavedPet,
    claim: Claim,
    now: Date,
    operation: ObjectId,
  ): (options: Attempt) => Promise<AddedPet> {
    const { fingerprint } = claim;
    const [_id, keepUntil] = [claimId(claim), new Date(claim.keepUntil)];
    let mine: ClaimDocument | undefined;
    return async (options) => {
      mine ??= {
        _id,
        fingerprint,
        keepUntil,
        pet: toPetDocument(await this.#inserts.nextId(), pet, operation),
      };
      const valid = await this.#settleClaim(mine, now, options);
      if (valid.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
      return {
        pet: await this.#keepClaimed(valid, options),
        replayed: !valid.pet.operation.equals(operation),
      };
    };
  }

  /** Resolves to the claim that is valid: this one, or an earlier one that has not lapsed. */
  async #settleClaim(mine: ClaimDocument, now: Date, options: Attempt): Promise<ClaimDocument> {
    try {
      await this.#claims.insertOne(mine, options);
      return mine;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const earlier = await this.#findClaim(mine._id, options);
    if (earlier.keepUntil > now || earlier.pet.operation.equals(mine.pet.operation)) return earlier;
    const { matchedCount } = await this.#claims.replaceOne(
      { _id: mine._id, 'pet.operation': earlier.pet.operation },
      mine,
      options,
    );
    return matchedCount === 1 ? mine : this.#findClaim(mine._id, options);
  }

  async #findClaim(id: string, options: Attempt): Promise<ClaimDocument> {
    const found = await this.#claims.findOne({ _id: { $eq: id } }, options);
    if (found === null) throw new UndecidedError('the majority does not have the claim yet, or no longer');
    return toClaim(found);
  }

  /** Stores the claim's animal; resolves to it as it is created. */
  async #keepClaimed({ _id, pet }: ClaimDocument, options: Attempt): Promise<Pet> {
    const kept = await this.#inserts.keep(pet, options, async (taken, id) => {
      // Whoever is first gives the claim the other id.
      await this.#claims.updateOne({ _id, 'pet._id': taken._id }, { $set: { 'pet._id': id } }, options);
      return (await this.#findClaim(_id, options)).pet;
    });
    return savedPet(kept._id, kept);
  }
}
