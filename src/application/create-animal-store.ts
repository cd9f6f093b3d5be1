import {
  InvalidParameterError,
  InvalidPetError,
  PetNotFoundError,
  faultsOf,
  requireValid,
  type Fault,
} from '../domain/errors.js';
import { isInt64, toInt64 } from '../domain/int64.js';
import {
  NEW_PET_FIELDS,
  PET_RULES,
  statusFaults,
  unsavedPet,
  type UnsavedPet,
} from '../domain/pet.js';
import { PET_STATUSES, type PetStatus } from '../domain/pet-status.js';
import type {
  AnimalStore,
  Call,
  ExperimentalAnimalStore,
  IdempotencyKey,
  PetQuery,
} from './animal-store.js';
import { requireProgress } from './pet-pages.js';
import { systemClock, timeOf, type Clock } from './ports/clock.js';
import type { PetChanges } from './ports/pet-changes.js';
import type { PetRange, PetRepository } from './ports/pet-repository.js';

/** What an animal store is made of. */
export interface AnimalStoreDependencies {
  /** Where animals are stored: an adapter of this package, or your own. */
  readonly pets: PetRepository;
  /** What changes and removes the animals of the same store. Default: nothing does. */
  readonly changes?: PetChanges | undefined;
  /** Default: the machine's clock. */
  readonly clock?: Clock | undefined;
  /**
   * The SHA-256 of a text in UTF-8, in lower-case hexadecimal. It checks that a retry sends the same animal. Default: by
   * Web Crypto, which runs everywhere; a synchronous one, such as `hash` of `node:crypto`, costs a tenth.
   */
  readonly sha256?: ((text: string) => string | Promise<string>) | undefined;
}

/**
 * Makes an animal store on any repository; with `changes` one whose animals can be changed. It opens nothing: the caller
 * closes the store.
 */
export function createAnimalStore(
  dependencies: AnimalStoreDependencies & { readonly changes: PetChanges },
): ExperimentalAnimalStore;
export function createAnimalStore(dependencies: AnimalStoreDependencies): AnimalStore;
export function createAnimalStore({
  pets,
  changes,
  clock = systemClock,
  sha256 = sha256ByWebCrypto,
}: AnimalStoreDependencies): AnimalStore {
  return Object.freeze({
    keepsIdempotencyKeys: pets.addOnce !== undefined,

    async listPets(query = {}, call = {}) {
      requirePetQuery(query, call);
      const { limit = PAGE_LIMIT.default, status, after } = query;
      // One more than requested: its existence tells whether there is a next page.
      const range = { after, limit: limit + 1, status } satisfies Required<PetRange>;
      const found = await pets.list(range, call);
      requireProgress(found, after);
      const last = found.length > limit ? found[limit - 1] : undefined;
      return last === undefined ? { pets: found } : { pets: found.slice(0, limit), next: last.id };
    },

    async createPet(pet, { idempotencyKey, signal } = {}) {
      signal?.throwIfAborted();
      const unsaved = unsavedPet(pet);
      if (idempotencyKey === undefined)
        return { pet: await pets.add(unsaved, { signal }), replayed: false };
      if (pets.addOnce === undefined)
        throw new InvalidParameterError([{ field: 'idempotencyKey', message: KEEPS_NONE }]);
      const now = timeOf(clock);
      const claim = await claimFor(idempotencyKey, unsaved, now, sha256);
      return pets.addOnce(unsaved, claim, now, { signal });
    },

    async getPet(id, call = {}) {
      const petId = requirePetId(id, call);
      const pet = await pets.findById(petId, call);
      if (pet === undefined) throw new PetNotFoundError(petId);
      return pet;
    },

    ...(changes && changingAnimals(changes)),
  } satisfies AnimalStore);
}

const changingAnimals = (
  changes: PetChanges,
): Omit<ExperimentalAnimalStore, keyof AnimalStore> => ({
  async changeStatus(id, status, { from, signal } = {}) {
    const petId = requirePetId(id, { signal });
    const allowed = requireFrom(from);
    requireStatus(status);
    const pet = await changes.changeStatus(petId, status, allowed, { signal });
    if (pet === undefined) throw new PetNotFoundError(petId);
    return pet;
  },

  async removePet(id, { from, signal } = {}) {
    const petId = requirePetId(id, { signal });
    const isRemoved = await changes.remove(petId, requireFrom(from), { signal });
    if (!isRemoved) throw new PetNotFoundError(petId);
  },
});

/** Bounds and default of `limit`. */
export const PAGE_LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** @throws {InvalidPetError} the status of a change is unknown */
export function requireStatus(status: PetStatus): void {
  const faults = statusFaults(status);
  if (faults.length > 0) throw new InvalidPetError(faults);
}

/**
 * The statuses that a change starts from.
 * @throws {InvalidParameterError} `from` is unknown
 */
export function requireFrom(from: PetStatus | undefined): readonly PetStatus[] {
  if (from === undefined) return PET_STATUSES;
  requireValid({ from: PET_RULES.status(from) });
  return Object.freeze([from]);
}

/**
 * Checks a query.
 * @throws the reason of an aborted signal
 * @throws {InvalidParameterError} naming every fault
 */
export function requirePetQuery(query: PetQuery, { signal }: Call = {}): void {
  signal?.throwIfAborted();
  const faults = petQueryFaults(query);
  if (faults.length > 0) throw new InvalidParameterError(faults);
}

/** Every rule that a query breaks. */
export function petQueryFaults(query: { readonly [Name in keyof PetQuery]: unknown }): Fault[] {
  const { limit = PAGE_LIMIT.default, status, after } = query;
  const { minimum, maximum } = PAGE_LIMIT;
  const isLimit = Number.isInteger(limit) && Number(limit) >= minimum && Number(limit) <= maximum;
  return faultsOf({
    limit: isLimit ? undefined : `must be an integer from ${minimum} to ${maximum}`,
    status: status === undefined ? undefined : PET_RULES.status(status),
    after: after === undefined || isInt64(after) ? undefined : 'must be a 64-bit integer',
  } satisfies Record<keyof PetQuery, string | undefined>);
}

/**
 * The id as an int64.
 * @throws the reason of an aborted signal
 * @throws {InvalidParameterError} it is a number that is not a safe integer
 * @throws {PetNotFoundError} it is outside int64, and so no animal's id
 */
export function requirePetId(id: bigint | number, { signal }: Call): bigint {
  signal?.throwIfAborted();
  const petId = toInt64(id);
  if (petId !== undefined) return petId;
  if (typeof id === 'bigint') throw new PetNotFoundError(id);
  throw new InvalidParameterError([{ field: 'id', message: 'must be a bigint or a safe integer' }]);
}

const KEEPS_NONE = 'must be omitted: the store keeps no idempotency keys';

/** How long an idempotency key is honoured, in milliseconds: 24 hours. */
const CLAIM_LIFETIME = 24 * 60 * 60 * 1000;

async function claimFor(
  idempotencyKey: IdempotencyKey,
  pet: UnsavedPet,
  now: number,
  sha256: Sha256,
) {
  const { scope, key } = Object(idempotencyKey) as IdempotencyKey; // also of null
  requireValid({ 'idempotencyKey.scope': textFault(scope), 'idempotencyKey.key': textFault(key) });
  const fingerprint = await sha256(fingerprintText(pet));
  return Object.freeze({ scope, key, fingerprint, keepUntil: now + CLAIM_LIFETIME });
}

/** Checked here once, so that no store has to escape what text columns cut or replace. */
const textFault = (text: unknown): string | undefined =>
  typeof text === 'string' && /^[^\0\p{Cs}]+$/u.test(text) && text.length <= 255
    ? undefined
    : 'must have 1 to 255 characters, without U+0000 and lone surrogates';

/**
 * What the fingerprint is made of: equal for equal animals, whatever their JSON looked like. Optional fields at the end
 * that an animal lacks leave no trace, so that a retry of a create from before such a field still matches.
 */
export function fingerprintText(pet: UnsavedPet): string {
  const last = NEW_PET_FIELDS.findLastIndex((field) => pet[field] !== undefined);
  return JSON.stringify(NEW_PET_FIELDS.slice(0, last + 1).map((field) => pet[field]?.toString()));
}

type Sha256 = NonNullable<AnimalStoreDependencies['sha256']>;

async function sha256ByWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
