import { ObjectId, type Collection } from 'mongodb';
import type { AddedPet, Claim } from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import type { MongoConnection } from './mongo-connection.js';
import { toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';
import { UndecidedError, isDuplicateKey, unreadable, type Attempt } from './retry.js';

/** A claim in the database. It decides which animal is created, and under which id. */
export interface ClaimDocument {
  /** Scope and key: see `claimId`. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly keepUntil: Date;
  /** The animal as it is created. */
  readonly pet: PetDocument;
}

type ClaimName = Pick<Claim, 'scope' | 'key'>;

/** JSON text: different for every pair of scope and key. */
export const claimId = ({ scope, key }: ClaimName): string => JSON.stringify([scope, key]);

/** The reverse of `claimId`. */
export function claimName(id: string): ClaimName {
  try {
    const [scope, key, ...rest] = JSON.parse(id) as unknown[];
    if (typeof scope === 'string' && typeof key === 'string' && rest.length === 0) return { scope, key };
  } catch {
    // Not JSON.
  }
  throw unreadable('claims', id, '_id must be the JSON text of scope and key');
}

/** @throws {UnavailableError} another program wrote the claim. */
export function toClaim({ _id, fingerprint, keepUntil, pet }: ClaimDocument): ClaimDocument {
  if (
    typeof fingerprint !== 'string' ||
    !(keepUntil instanceof Date) ||
    !(pet?.operation instanceof ObjectId)
  ) {
    throw unreadable('claims', _id, 'a field is missing or has the wrong type');
  }
  const { id, ...fields } = toPet(pet, 'claims');
  return { _id, fingerprint, keepUntil, pet: toPetDocument(id, fields, pet.operation) };
}

/**
 * Creates that may be retried. The claim is written first, with the animal in it, then the animal: whoever finds a
 * claim can finish what its maker did not, and no other animal can result. So every write changes one document, and
 * only `_id` needs a unique index. If somebody deletes the animal by hand, a retry while the claim lasts restores it.
 */
export class Claims {
  readonly #claims: Collection<ClaimDocument>;
  readonly #inserts: PetInserts;

  constructor(connection: MongoConnection, inserts: PetInserts) {
    this.#claims = connection.collection('claims');
    this.#inserts = inserts;
  }

  /** Returns the attempt that adds the animal for the claim. It is safe to repeat. The claim's dates are copied now. */
  adding(
    pet: UnsavedPet,
    claim: Claim,
    time: Date,
    operation: ObjectId,
  ): (options: Attempt) => Promise<AddedPet> {
    const { fingerprint } = claim;
    const [_id, now, keepUntil] = [claimId(claim), new Date(time), new Date(claim.keepUntil)];
    let mine: ClaimDocument | undefined;
    return async (options) => {
      mine ??= {
        _id,
        fingerprint,
        keepUntil,
        pet: toPetDocument(await this.#inserts.nextId(), pet, operation),
      };
      const valid = await this.#settle(mine, now, options);
      if (valid.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
      return { pet: await this.#keep(valid, options), replayed: !valid.pet.operation.equals(operation) };
    };
  }

  /** Resolves to the claim that is valid: this one, or an earlier one that has not lapsed. */
  async #settle(mine: ClaimDocument, now: Date, options: Attempt): Promise<ClaimDocument> {
    try {
      await this.#claims.insertOne(mine, options);
      return mine;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const earlier = await this.#find(mine._id, options);
    if (earlier.keepUntil > now || earlier.pet.operation.equals(mine.pet.operation)) return earlier;
    const { matchedCount } = await this.#claims.replaceOne(
      { _id: mine._id, 'pet.operation': earlier.pet.operation },
      mine,
      options,
    );
    return matchedCount === 1 ? mine : this.#find(mine._id, options);
  }

  async #find(id: string, options: Attempt): Promise<ClaimDocument> {
    const found = await this.#claims.findOne({ _id: { $eq: id } }, options);
    if (found === null) throw new UndecidedError('the majority does not have the claim yet, or no longer');
    return toClaim(found);
  }

  /** Stores the claim's animal; resolves to it as it is created. */
  async #keep({ _id, pet }: ClaimDocument, options: Attempt): Promise<Pet> {
    const kept = await this.#inserts.keep(pet, options, async (taken, id) => {
      // Whoever is first gives the claim the other id.
      await this.#claims.updateOne({ _id, 'pet._id': taken._id }, { $set: { 'pet._id': id } }, options);
      return (await this.#find(_id, options)).pet;
    });
    return savedPet(kept._id, kept);
  }
}
