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
import { abortable, SERVER_LIMIT } from './abortable.js';
import { MongoSession, type MongoConnection } from './mongo-connection.js';
import { PET_FIELDS, toPet, toPetDocument, type FoundPet, type PetDocument } from './pet-document.js';
import { PetInserts } from './pet-inserts.js';
import { RefusedDocuments } from './refused-documents.js';

const READ = { projection: PET_FIELDS, ...SERVER_LIMIT } as const;

/** How many animals the server sends at a time, at most. */
const LARGEST_BATCH = 1000;

/**
 * Animals in a MongoDB database, shared by any number of processes and machines. A document that holds no valid
 * animal (another program's) is no animal: it is in no list, under no id, and told of once; its id stays taken.
 */
export class MongoPetRepository implements PetRepository {
  // Not ordered: each process has a block of ids of its own.
  readonly capabilities = Object.freeze({ durable: true, shared: true });
  readonly #session: MongoSession;
  readonly #pets: Collection<PetDocument>;
  readonly #inserts: PetInserts;
  readonly #claims: Claims;
  readonly #refused: RefusedDocuments;

  constructor(connection: MongoConnection) {
    this.#pets = connection.collection('pets');
    this.#inserts = new PetInserts(connection);
    this.#claims = new Claims(connection, this.#inserts);
    this.#refused = new RefusedDocuments('pets', connection.tell);
    this.#session = new MongoSession(connection);
  }

  async add(
    { name, categoryId, status }: UnsavedPet,
    { claim, now = new Date(), signal }: AddOptions = {},
  ): Promise<AddedPet> {
    const pet = { name, categoryId, status };
    const operation = new ObjectId();
    if (claim !== undefined) {
      const attempt = this.#claims.adding(pet, claim, now, operation);
      return this.#session.run('adding an animal', { signal }, attempt);
    }
    let document: PetDocument | undefined;
    return this.#session.run('adding an animal', { signal }, async (attempt) => {
      document ??= toPetDocument(await this.#inserts.nextId(), pet, operation);
      const kept = await this.#inserts.keep(document, attempt, (_, id) => {
        document = toPetDocument(id, pet, operation);
        return document;
      });
      return { pet: savedPet(kept._id, pet), replayed: false };
    });
  }

  findById(id: bigint, call: Call = {}): Promise<Pet | undefined> {
    return this.#session.run('reading an animal', call, async (signal) => {
      if (!isInt64(id) || id <= 0n) return undefined;
      const found = await this.#pets.findOne<FoundPet>({ _id: id }, abortable(READ, signal));
      return found === null ? undefined : (toPet(found) ?? this.#refused.tell(found._id));
    });
  }

  list({ after = 0n, limit, status }: PetRange, call: Call = {}): Promise<readonly Pet[]> {
    return this.#session.run('listing animals', call, async (signal) => {
      const pets: Pet[] = [];
      let start: unknown = after < 0n ? 0n : after;
      if (after >= INT64_MAX) return pets;
      // Once, unless documents were refused: a page is short at the end of the list only.
      for (;;) {
        const wanted = limit - pets.length;
        const found = await this.#find(start, wanted, status, signal);
        for (const document of found) {
          const pet = toPet(document);
          if (pet === undefined) this.#refused.tell(document._id);
          else pets.push(pet);
        }
        if (found.length < wanted || pets.length >= limit) return pets;
        start = found.at(-1)?._id;
      }
    });
  }

  #find(
    after: unknown,
    limit: number,
    status: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly FoundPet[]> {
    // With `$eq` whatever is given is a value, never an operator.
    const filter = { _id: { $gt: after }, ...(status !== undefined && { status: { $eq: status } }) };
    const most = Math.min(limit, 2 ** 31 - 1);
    return this.#pets
      .find<FoundPet>(
        filter as Filter<PetDocument>,
        abortable(
          { ...READ, sort: { _id: 1 }, limit: most, batchSize: Math.min(most, LARGEST_BATCH) },
          signal,
        ),
      )
      .toArray();
  }

  check({ signal: given }: Call = {}): Promise<void> {
    return this.#session.run('checking the store', { signal: given, retry: false }, async (signal) => {
      // More than a ping: it takes the primary, and the right to read.
      await this.#pets.findOne({}, abortable({ projection: { _id: 1 }, ...SERVER_LIMIT }, signal));
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
