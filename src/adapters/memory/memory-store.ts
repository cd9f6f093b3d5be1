import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import type { PetChanges } from '../../application/ports/pet-changes.js';
import type { Claim, PetRepository } from '../../application/ports/pet-repository.js';
import type { CompleteStore, StoreFactory } from '../../application/ports/store.js';
import {
  claimId,
  openModeOf,
  permanentError,
  replayOf,
  requireOpen,
} from '../../application/store-rules.js';
import { petWithId, requireStatus, type Pet, type UnsavedPet } from '../../domain/pet.js';

/**
 * Opens a new, empty store in the memory of this process. Its data is lost when the process ends. No operation awaits
 * anything, so each is atomic.
 */
export function openMemoryStore(): CompleteStore {
  let isOpen = true;
  let greatestId = 0n;
  /** In ascending order of id. */
  let petsById = new Map<bigint, Pet>();
  /** By `claimId`, the oldest first. A claim outlives its animal. */
  const claims = new Map<string, Claim & { readonly petId: bigint }>();
  const apiKeysById = new Map<string, ApiKeyRecord>();

  function beginCall(doing: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    requireOpen(isOpen, doing);
  }

  function insert(pet: UnsavedPet): Pet {
    greatestId += 1n;
    const stored = petWithId(greatestId, pet);
    petsById.set(stored.id, stored);
    return stored;
  }

  const pets: PetRepository = {
    async add(pet, { signal } = {}) {
      beginCall('adding an animal', signal);
      return insert(pet);
    },

    async addOnce(pet, claim, now, { signal } = {}) {
      beginCall('adding an animal', signal);
      const id = claimId(claim);
      const earlier = claims.get(id);
      if (earlier && earlier.keepUntil > now) return replayOf(earlier, pet, claim);
      for (const [oldId, { keepUntil }] of claims) {
        if (keepUntil > now) break; // later claims expire later; if the clock went back, some stay longer
        claims.delete(oldId);
      }
      const stored = insert(pet);
      claims.set(id, { ...claim, petId: stored.id });
      return { pet: stored, replayed: false };
    },

    async findById(id, { signal } = {}) {
      beginCall('reading an animal', signal);
      return petsById.get(id);
    },

    async list({ after = 0n, limit, status }, { signal } = {}) {
      beginCall('listing animals', signal);
      const page: Pet[] = [];
      for (const pet of petsById.values()) {
        if (page.length === limit) break;
        const hasStatus = status === undefined || pet.status === status;
        if (hasStatus && pet.id > after) page.push(pet);
      }
      return page;
    },
  };

  const changes: PetChanges = {
    async change(id, change, from, { signal } = {}) {
      beginCall('changing an animal', signal);
      const pet = petsById.get(id);
      if (pet === undefined) return undefined;
      requireStatus(pet, from);
      const changed = petWithId(id, { ...pet, ...change });
      petsById.set(id, changed);
      return changed;
    },

    async remove(id, from, { signal } = {}) {
      beginCall('removing an animal', signal);
      const pet = petsById.get(id);
      if (pet === undefined) return false;
      requireStatus(pet, from);
      return petsById.delete(id);
    },
  };

  const apiKeys: ApiKeyRepository = {
    async add(apiKey, { signal } = {}) {
      beginCall('adding an API key', signal);
      if (apiKeysById.has(apiKey.id)) return false;
      apiKeysById.set(apiKey.id, apiKey);
      return true;
    },

    async findById(id, { signal } = {}) {
      beginCall('reading an API key', signal);
      return apiKeysById.get(id);
    },

    async list({ signal } = {}) {
      beginCall('listing API keys', signal);
      return [...apiKeysById.values()].sort((one, other) => one.createdAt - other.createdAt);
    },

    async revoke(id, at, { signal } = {}) {
      beginCall('revoking an API key', signal);
      const apiKey = apiKeysById.get(id);
      if (apiKey === undefined) return undefined;
      const revoked = { ...apiKey, revokedAt: apiKey.revokedAt ?? at };
      apiKeysById.set(id, revoked);
      return revoked;
    },
  };

  const transfer: CatalogueTransfer = {
    async lastId({ signal } = {}) {
      beginCall('reading the last id', signal);
      return greatestId;
    },

    async writePets(copied, lastId, { signal } = {}) {
      beginCall('writing animals', signal);
      if (lastId > greatestId) greatestId = lastId;
      for (const pet of copied) if (!petsById.has(pet.id)) petsById.set(pet.id, pet);
      // A Map keeps the order of insertion, and lists are in ascending order of id.
      petsById = new Map([...petsById].sort(([one], [other]) => (one < other ? -1 : 1)));
    },
  };

  const close = async (): Promise<void> => {
    isOpen = false;
  };
  return {
    pets,
    changes,
    apiKeys,
    transfer,
    location: 'memory, lost when the process ends',
    check: async ({ signal } = {}) => beginCall('checking the store', signal),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Opens a new store at every call. */
export const memoryStoreFactory: StoreFactory = {
  scheme: 'memory',
  async open(url, options = {}) {
    if (url === 'memory:' && openModeOf(options) === 'create') return openMemoryStore();
    throw permanentError(
      'The URL of a store in memory is "memory:" alone. It is always new, so only the mode create can open it.',
    );
  },
};
