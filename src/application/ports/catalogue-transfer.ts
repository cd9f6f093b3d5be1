import type { Pet } from '../../domain/pet.js';
import type { Call } from '../call.js';
import type { ApiKeyRecord } from './api-key-repository.js';

/**
 * Driven port: everything that a store keeps, to be moved to another store as it is: animals with their ids,
 * live claims, API keys, and how far the ids went. Every adapter passes `catalogueTransferContract`.
 *
 * What is said of copies, overlapping calls, failure, abort and close in `PetRepository` holds here too. What
 * was written is as safe as an added animal, and seen by every repository on the store. A batch is no
 * transaction: when a write rejects, or its process ends, any part of the batch may have been kept. To write
 * it again is always right.
 */
export interface CatalogueTransfer {
  /** How much there is, without reading it all. */
  survey(call?: Call): Promise<CatalogueSurvey>;

  /**
   * The first `limit` animals with an id greater than `after`, ascending by id; fewer only where there are no
   * more. One that is added meanwhile may or may not be among them.
   */
  readPets(batch: PetBatch, call?: Call): Promise<readonly Pet[]>;

  /**
   * Keeps the animals under their ids, whatever the order. One whose id is taken is left out: the animal that
   * has it stays as it is, so that nothing is ever overwritten and a batch can be written again.
   * The ids have been reserved before.
   */
  writePets(pets: readonly Pet[], call?: Call): Promise<void>;

  /**
   * The next `limit` claims that are live at `now`, behind the claim `after`, in an order that is the store's
   * own and stays the same; fewer only where there are no more.
   */
  readClaims(batch: ClaimBatch, call?: Call): Promise<readonly KeptClaim[]>;

  /** Keeps the claims, each in the place of one with the same scope and token. Their animals were written before. */
  writeClaims(claims: readonly KeptClaim[], call?: Call): Promise<void>;

  /** All API keys, in the order of `ApiKeyRepository.list`. */
  readApiKeys(call?: Call): Promise<readonly ApiKeyRecord[]>;

  /** Keeps the keys, each in the place of one with the same id. */
  writeApiKeys(keys: readonly ApiKeyRecord[], call?: Call): Promise<void>;

  /**
   * Sees to it that ids up to `last` are not assigned any more: every repository that is opened afterwards, or
   * has not assigned any yet, goes on with greater ones. Never takes back what was reserved or assigned.
   */
  reserveIds(last: bigint, call?: Call): Promise<void>;

  /** Lets go of everything the adapter opened. Safe to call twice. */
  close(): Promise<void>;
}

/** How much a store holds, as told without reading it all. */
export interface CatalogueSurvey {
  /** No animal, and so no claim, and no key. Ids that were reserved do not count. */
  readonly empty: boolean;
  /** How many animals there are; an estimate where counting is dear, so good for telling progress only. */
  readonly pets: number;
  /** Every id that was assigned or reserved is at most this; 0 when none was. */
  readonly lastId: bigint;
  /**
   * Changes with every animal that is kept and every key that is kept or changed, by whatever process, and with
   * nothing but writing. Says nothing to anyone else: compare it with an earlier one of the same store.
   */
  readonly revision: string;
  /**
   * What the store itself is known by, however it was reached: the same for every handle on it, and never that of
   * another store. Left out where it cannot be told.
   */
  readonly store?: string | undefined;
}

/** A stretch of the animals in ascending order of their ids. */
export interface PetBatch {
  /** Only animals with a greater id; all when left out. */
  readonly after?: bigint | undefined;
  /** How many at most: 1 or more. */
  readonly limit: number;
}

/** A stretch of the live claims. */
export interface ClaimBatch {
  /** The last claim of the batch before; the first batch when left out. */
  readonly after?: Pick<KeptClaim, 'scope' | 'token'> | undefined;
  /** How many at most: 1 or more. */
  readonly limit: number;
  /** Only claims whose `keepUntil` is after it. */
  readonly now: Date;
}

/** A claim as it is kept once its animal is (see `Claim`). */
export interface KeptClaim {
  /** Whose token it is. */
  readonly scope: string;
  /** What the caller repeats. */
  readonly token: string;
  /** What tells the animal that was asked for from others (`Claim.fingerprint`). */
  readonly fingerprint: string;
  /** The animal that was created for it. */
  readonly petId: bigint;
  /** The claim is live strictly before this instant, exact to the millisecond. */
  readonly keepUntil: Date;
}
