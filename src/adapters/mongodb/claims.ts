import type { Collection, ObjectId } from 'mongodb';
import type { AddedPet, Claim } from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { UndecidedError, isDuplicateKey } from './mongo-error.js';
import { abortable, SERVER_LIMIT } from './abortable.js';
import { claimId, readClaim, type ClaimDocument, type FoundClaim } from './claim-document.js';
import type { MongoConnection } from './mongo-connection.js';
import { toPetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';

/**
 * Creates that may be repeated. The claim is written first, with the animal in it, and then the animal: whoever
 * finds a claim can finish what its maker did not, and no other animal can come of it. So each write is of one
 * document, and no unique index is needed but that of `_id`. An animal that was taken out of the database by hand
 * comes back when its create is repeated while the claim lasts.
 */
export class Claims {
  readonly #claims: Collection<ClaimDocument>;
  readonly #inserts: PetInserts;

  constructor(connection: MongoConnection, inserts: PetInserts) {
    this.#claims = connection.collection('claims');
    this.#inserts = inserts;
  }

  /** Returns what adds the animal for the claim; it is safe to repeat. The claim's dates are taken now. */
  adding(
    pet: UnsavedPet,
    claim: Claim,
    time: Date,
    operation: ObjectId,
  ): (signal: AbortSignal) => Promise<AddedPet> {
    const { fingerprint } = claim;
    const [_id, now, keepUntil] = [claimId(claim), new Date(time), new Date(claim.keepUntil)];
    let mine: ClaimDocument | undefined;
    return async (signal) => {
      mine ??= {
        _id,
        fingerprint,
        keepUntil,
        pet: toPetDocument(await this.#inserts.nextId(), pet, operation),
      };
      const valid = await this.#settle(mine, now, signal);
      const replayed = !valid.pet.operation.equals(operation);
      if (valid.fingerprint !== fingerprint) throw new IdempotencyKeyReusedError();
      return { pet: await this.#keep(valid, signal), replayed };
    };
  }

  /** Resolves to the claim that is valid: this one, or an earlier one that has not lapsed. */
  async #settle(mine: ClaimDocument, now: Date, signal: AbortSignal): Promise<ClaimDocument> {
    try {
      await this.#claims.insertOne(mine, abortable(SERVER_LIMIT, signal));
      return mine;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const earlier = await this.#find(mine._id, signal);
    if (earlier.keepUntil > now || earlier.pet.operation.equals(mine.pet.operation)) return earlier;
    const { matchedCount } = await this.#claims.replaceOne(
      { _id: mine._id, 'pet.operation': earlier.pet.operation },
      mine,
      abortable(SERVER_LIMIT, signal),
    );
    return matchedCount === 1 ? mine : this.#find(mine._id, signal);
  }

  async #find(id: string, signal: AbortSignal): Promise<ClaimDocument> {
    const found = await this.#claims.findOne<FoundClaim>(
      { _id: { $eq: id } },
      abortable(SERVER_LIMIT, signal),
    );
    if (found === null) throw new UndecidedError('the majority has not the claim yet, or no more');
    return readClaim({ ...found, _id: id });
  }

  /** Has the claim's animal kept; resolves to it as it is created. */
  async #keep({ _id, pet }: ClaimDocument, signal: AbortSignal): Promise<Pet> {
    const kept = await this.#inserts.keep(pet, signal, async (taken, id) => {
      // The claim is given the other id, by whoever is first.
      await this.#claims.updateOne(
        { _id, 'pet._id': taken._id },
        { $set: { 'pet._id': id } },
        abortable(SERVER_LIMIT, signal),
      );
      return (await this.#find(_id, signal)).pet;
    });
    return savedPet(kept._id, kept);
  }
}
