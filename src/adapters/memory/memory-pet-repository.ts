import type { CallOptions } from '../../application/animal-store.js';
import type { ApiKeyRecord } from '../../application/ports/api-key-repository.js';
import type { PetClaim } from '../../application/ports/catalogue-transfer.js';
import {
  unmetCondition,
  type PetChanges,
  type PetCondition,
} from '../../application/ports/pet-changes.js';
import { claimId, type Claim, type NothingElse } from '../../application/ports/pet-repository.js';
import type { CompleteStore } from '../../application/ports/store.js';
import { IdempotencyKeyReusedError, UnavailableError } from '../../domain/errors.js';
import { petWithId, type Pet, type UnsavedPet } from '../../domain/pet.js';

/** The data of one store in memory, shared by its adapters. */
export class MemoryData {
  /** By id, in ascending order. */
  pets = new Map<bigint, Pet>();
  /** The greatest id that was assigned or reserved. */
  lastId = 0n;
  isUnfinished = false;
  /** By `claimId`. Those that were looked at longest ago, to remove the expired, come first. */
  readonly claims = new Map<string, PetClaim>();
  /** By id. */
  readonly apiKeys = new Map<string, ApiKeyRecord>();
  #closed = false;

  /** Every operation begins with this. */
  requireOpen(doing: string, options?: CallOptions): void {
    options?.signal?.throwIfAborted();
    if (this.#closed) throw new UnavailableError(`${doing} after close`);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  add(pet: UnsavedPet): Pet {
    this.lastId += 1n;
    const added = petWithId(this.lastId, pet);
    this.pets.set(added.id, added);
    return added;
  }
}

/**
 * Animals in the memory of this process, until it ends. The reference adapter: the shortest to read. No operation
 * awaits anything, so each is one step that no other call can interleave with.
 */
export const memoryPets = (data: MemoryData): CompleteStore['pets'] => ({
  async add(pet, options) {
    data.requireOpen('adding an animal', options);
    return data.add(pet);
  },

  async addOnce(pet, claim, now, options) {
    data.requireOpen('adding an animal', options);
    const earlier = findClaim(data, claim, now);
    if (earlier) return { pet: petWithId(earlier.petId, pet), replayed: true };
    const added = data.add(pet);
    data.claims.set(claimId(claim), { ...claim, petId: added.id });
    return { pet: added, replayed: false };
  },

  async findById(id, options) {
    data.requireOpen('reading an animal', options);
    return data.pets.get(id);
  },

  async list({ after = 0n, limit, status, ...others }, options) {
    void (others satisfies NothingElse);
    data.requireOpen('listing animals', options);
    const page: Pet[] = [];
    for (const pet of data.pets.values()) {
      if (page.length === limit) break;
      const isListed = pet.id > after && (status === undefined || pet.status === status);
      if (isListed) page.push(pet);
    }
    return page;
  },
});

/** Changes of these animals. A claim holds all that a replay needs, so it outlives its animal. */
export const memoryChanges = (data: MemoryData): PetChanges => ({
  async change(id, change, condition, options) {
    data.requireOpen('changing an animal', options);
    const pet = findToChange(data, id, condition);
    const changed = pet && petWithId(id, { ...pet, ...change });
    if (changed) data.pets.set(id, changed);
    return changed;
  },

  async remove(id, condition, options) {
    data.requireOpen('removing an animal', options);
    findToChange(data, id, condition);
    return data.pets.delete(id);
  },
});

function findToChange(data: MemoryData, id: bigint, condition: PetCondition): Pet | undefined {
  const pet = data.pets.get(id);
  const unmet = pet && unmetCondition(pet, condition);
  if (unmet) throw unmet;
  return pet;
}

function findClaim(data: MemoryData, claim: Claim, now: number): PetClaim | undefined {
  // Two for each call, so that a claim that is kept for a year holds back none.
  let left = 2;
  for (const [id, swept] of data.claims) {
    data.claims.delete(id);
    if (swept.keepUntil > now) data.claims.set(id, swept);
    left -= 1;
    if (left === 0) break;
  }
  const earlier = data.claims.get(claimId(claim));
  if (earlier === undefined || earlier.keepUntil <= now) return undefined;
  if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
  return earlier;
}
