import { ObjectId, type Collection, type Filter } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import type {
  AddedPet,
  AddOptions,
  PetRange,
  PetRepository,
} from '../../application/ports/pet-repository.js';
import { INT64_MAX, isInt64 } from '../../domain/int64.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { Claims } from './claims.js';
import type { MongoConnection } from './mongo-connection.js';
import { PET_PROJECTION, toPet, toPetDocument, type PetDocument } from './pet-document.js';
import type { PetInserts } from './pet-inserts.js';

/** Animals in a MongoDB database, shared by any number of processes and machines. */
export class MongoPetRepository implements PetRepository {
  // Not ordered: each process has its own block of ids.
  readonly capabilities = Object.freeze({ durable: true, shared: true });
  readonly #connection: MongoConnection;
  readonly #pets: Collection<PetDocument>;
  readonly #inserts: PetInserts;
  readonly #claims: Claims;

  constructor(connection: MongoConnection, inserts: PetInserts) {
    this.#connection = connection;
    this.#pets = connection.collection('pets');
    this.#inserts = inserts;
    this.#claims = new Claims(connection, this.#inserts);
  }

  async add(given: UnsavedPet, { claim, now = new Date(), signal }: AddOptions = {}): Promise<AddedPet> {
    const operation = new ObjectId();
    const pet = { ...given };
    if (claim !== undefined) {
      const attempt = this.#claims.adding(pet, claim, now, operation);
      return this.#connection.run('adding an animal', { signal }, attempt);
    }
    let document: PetDocument | undefined;
    return this.#connection.run('adding an animal', { signal }, async (options) => {
      document ??= toPetDocument(await this.#inserts.nextId(), pet, operation);
      const kept = await this.#inserts.keep(document, options, (_, id) => {
        document = toPetDocument(id, pet, operation);
        return document;
      });
      return { pet: savedPet(kept._id, kept), replayed: false };
    });
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
}
