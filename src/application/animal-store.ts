import type { NewPet, Pet } from '../domain/pet.js';
import type { PetStatus } from '../domain/pet-status.js';
import type { Call } from './call.js';

/**
 * Driving port: what the animal store does for those who use it. `createAnimalStore` makes one from a store;
 * transports offer it to others. Every implementation passes `animalStoreContract`.
 *
 * Every operation may reject with `StoreUnavailableError`, and rejects with `signal.reason` when aborted.
 * Pets hold bigints, which `JSON.stringify` refuses: write them with `stringify` of this package.
 */
export interface AnimalStore {
  /**
   * One page of the animals, ascending by id. Following `next` to its end meets every animal that exists
   * during the whole traversal exactly once.
   * @throws {InvalidParameterError} `limit` is not an integer from 1 to 100, or `status` is no status.
   * @throws {InvalidCursorError} `cursor` is not one that a page with the same status filter gave.
   */
  listPets(query?: PetQuery, call?: Call): Promise<PetPage>;

  /**
   * Adds an animal; its id is assigned by the store. With a request token the same animal is created at most
   * once: repeating the call within 24 hours resolves to the animal as created, `replayed: true`.
   * @throws {InvalidPetError} naming every fault; nothing was stored.
   * @throws {InvalidParameterError} the token or its scope breaks the rule of `RequestToken`.
   * @throws {IdempotencyKeyReusedError} the token was used for another animal; nothing was stored.
   * @throws {IdempotencyConflictError} an earlier call with the token is still undecided.
   */
  createPet(pet: NewPet, call?: CreateCall): Promise<CreatedPet>;

  /**
   * The animal with this id.
   * @throws {InvalidParameterError} the id is a number that is not a safe integer.
   * @throws {PetNotFoundError} no animal has it, or none can, because it is not an int64.
   */
  getPet(id: bigint | number, call?: Call): Promise<Pet>;
}

/** Which animals a page holds. What is left out restricts nothing. */
export interface PetQuery {
  /** How many animals at most: 1 to 100, 20 when left out. */
  readonly limit?: number | undefined;
  /** Only animals with this status; all when left out. */
  readonly status?: PetStatus | undefined;
  /** Where an earlier page ended: its `next`, unchanged. Opaque; good on every instance and after restarts. */
  readonly cursor?: string | undefined;
}

/** A stretch of a list. */
export interface PetPage {
  /** Ascending by id; empty where nothing matches. Each animal is frozen. */
  readonly pets: readonly Pet[];
  /** The cursor of the following page; absent on the last. */
  readonly next?: string;
}

/** What goes with the adding of one animal. */
export interface CreateCall extends Call {
  /** Makes repeating the call safe, for 24 hours. Left out, every call adds an animal of its own. */
  readonly request?: RequestToken | undefined;
}

/**
 * Names one create, so that repeating it is safe. Lengths in UTF-16 code units; no lone surrogates. Over HTTP it is the
 * header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header).
 */
export interface RequestToken {
  /** Whose token it is, so that callers cannot meet each other's: 1 to 255 characters. */
  readonly scope: string;
  /** Chosen by the caller, a new one for each animal: 1 to 255 characters. */
  readonly token: string;
}

/** What came of adding an animal. */
export interface CreatedPet {
  /** As it is kept: with its id, and with the status that was filled in. Frozen. */
  readonly pet: Pet;
  /** An earlier call with the same token had created it. */
  readonly replayed: boolean;
}
