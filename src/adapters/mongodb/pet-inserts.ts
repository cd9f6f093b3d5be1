import type { Collection } from 'mongodb';
import { UnavailableError } from '../../domain/errors.js';
import { UndecidedError, isDuplicateKey } from './mongo-error.js';
import { abortable, SERVER_LIMIT } from './abortable.js';
import type { MongoConnection } from './mongo-connection.js';
import type { PetDocument } from './pet-document.js';
import { PetIds } from './pet-ids.js';

/** How many ids in turn may be found taken, each from a block fetched anew, before it is given up. */
const COLLISIONS = 5;

/** Inserts that are safe to repeat: each is known by its operation. */
export class PetInserts {
  readonly #pets: Collection<PetDocument>;
  readonly #ids: PetIds;

  constructor(connection: MongoConnection) {
    this.#pets = connection.collection('pets');
    this.#ids = new PetIds(connection);
  }

  nextId(): Promise<bigint> {
    return this.#ids.next();
  }

  /**
   * Resolves to the animal when the majority has it. When an animal of another operation has its id, it is given
   * the next one by `rename`, which resolves to what is to be inserted then.
   */
  async keep(
    pet: PetDocument,
    signal: AbortSignal,
    rename: (pet: PetDocument, id: bigint) => PetDocument | Promise<PetDocument>,
  ): Promise<PetDocument> {
    let document = pet;
    for (let collisions = 0; collisions < COLLISIONS; collisions += 1) {
      if (await this.#insert(document, signal)) return document;
      this.#ids.refuse(document._id);
      document = await rename(document, await this.#ids.next());
    }
    throw new UnavailableError('finding an id that no animal has');
  }

  async #insert(document: PetDocument, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#pets.insertOne(document, abortable(SERVER_LIMIT, signal));
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // Of the same operation: the answer to an earlier insert was lost.
    const { _id, operation } = document;
    const found = await this.#pets.findOne(
      { _id },
      abortable({ projection: { operation: 1 }, ...SERVER_LIMIT }, signal),
    );
    if (found === null) throw new UndecidedError(`the majority has no animal ${_id} yet`);
    return operation.equals(found.operation);
  }
}
