import type { NewPet, Pet } from '../domain/pet.js';
import type { PetStatus } from '../domain/pet-status.js';
import type { CallOptions } from './call-options.js';

/**
 * Driving port: what the animal store does. `createAnimalStore` implements it on a repository, the HTTP client on a
 * remote service. Every implementation passes `animalStoreTests`.
 *
 * Every operation may reject with `UnavailableError`, and rejects with `signal.reason` when the call is aborted. It
 * checks the signal before its arguments.
 * Pets hold bigints, which `JSON.stringify` refuses: use `stringifyJson` of this package.
 */
export interface AnimalStore {
  /**
   * Returns one page of animals in ascending order of id. To traverse a list, pass `next` as `after` until it is
   * absent. Every animal that exists with the status during the whole traversal is returned exactly once.
   * @throws {InvalidParameterError} `limit` is not an integer from 1 to 100, `status` is unknown, or `after` is not
   * an int64.
   */
  listPets(query?: PetQuery, options?: CallOptions): Promise<PetPage>;

  /**
   * Adds an animal under an id that the store assigns. With an idempotency key the animal is added at most once:
   * a retry within 24 hours resolves to the animal as it was created, `replayed: true`.
   * @throws {InvalidPetError} naming every fault. Nothing was stored.
   * @throws {InvalidParameterError} the idempotency key or its scope is not valid.
   * @throws {IdempotencyKeyReusedError} the key was used for another animal. Nothing was stored.
   * @throws {IdempotencyConflictError} an earlier call with the key is still in progress.
   */
  createPet(pet: NewPet, options?: CreateOptions): Promise<CreatedPet>;

  /**
   * Returns the animal with this id.
   * @throws {InvalidParameterError} the id is a number that is not a safe integer.
   * @throws {PetNotFoundError} no animal has this id, or it is a bigint beyond int64.
   */
  getPet(id: bigint | number, options?: CallOptions): Promise<Pet>;
}

/**
 * An animal store whose animals can be changed and removed. Both operations are experimental: they may still change.
 * `createAnimalStore` makes one on a store that has `changes`.
 */
export interface ExperimentalAnimalStore extends AnimalStore {
  /**
   * Changes at least one field of an animal, and returns the animal as it is now. Omitted fields stay as they are. The
   * change is atomic: if several callers sell an animal with `from: 'available'`, only one succeeds.
   * @throws {InvalidPetError} naming every fault of the change.
   * @throws {InvalidParameterError} `from` is unknown, or the id is a number that is not a safe integer.
   * @throws {PetNotFoundError} no animal has this id, or it is a bigint beyond int64.
   * @throws {StatusConflictError} the animal does not have the status `from`. Nothing was changed.
   */
  changePet(id: bigint | number, change: Partial<NewPet>, options?: ChangeOptions): Promise<Pet>;

  /**
   * Removes an animal. The store never assigns its id again, and a retry of its create still resolves to the animal
   * as it was created.
   * @throws {InvalidParameterError} `from` is unknown, or the id is a number that is not a safe integer.
   * @throws {PetNotFoundError} no animal has this id, or it is a bigint beyond int64.
   * @throws {StatusConflictError} the animal does not have the status `from`. It was not removed.
   */
  removePet(id: bigint | number, options?: ChangeOptions): Promise<void>;
}

/** Options of `changePet` and `removePet`. */
export interface ChangeOptions extends CallOptions {
  /** Changes or removes the animal only if it has this status now. Default: always. */
  readonly from?: PetStatus | undefined;
}

/** Which animals a page holds. */
export interface PetQuery {
  /** The largest number of animals: 1 to 100. Default: 20. */
  readonly limit?: number | undefined;
  /** Only animals with this status. Default: all. */
  readonly status?: PetStatus | undefined;
  /** Only animals with a greater id: any int64, such as the last id of the page before. Default: all. */
  readonly after?: bigint | undefined;
}

/** One page of a list. */
export interface PetPage {
  /** In ascending order of id. Each animal is frozen. */
  readonly pets: readonly Pet[];
  /** The last id of this page, for `after` of the next one. Absent on the last page. */
  readonly next?: bigint;
}

/** Options of `createPet`. */
export interface CreateOptions extends CallOptions {
  /** Makes retries safe. Without it, every call adds an animal. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

/**
 * Identifies one create, so that a retry does not add a second animal. Both parts have 1 to 255 UTF-16 code units,
 * without U+0000 and lone surrogates.
 */
export interface IdempotencyKey {
  /** Whose key it is, such as the id of a caller: keys of different scopes never collide. */
  readonly scope: string;
  /** Chosen by the caller. Use a new value, such as a UUID, for each animal. */
  readonly key: string;
}

/** The result of `createPet`. */
export interface CreatedPet {
  /** As it is stored, with its id and status. Frozen. */
  readonly pet: Pet;
  /** Whether an earlier call with the same idempotency key created it. */
  readonly replayed: boolean;
}
