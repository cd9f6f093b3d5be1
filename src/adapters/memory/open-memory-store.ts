import { byAge, type ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import { claimId } from '../../application/ports/pet-repository.js';
import type { CompleteStore, StoreFactory } from '../../application/ports/store.js';
import { MemoryData, memoryChanges, memoryPets } from './memory-pet-repository.js';

/** Opens a new, empty store in the memory of this process. Its data is lost when the process ends. */
export function openMemoryStore(): CompleteStore {
  const data = new MemoryData();
  return {
    pets: memoryPets(data),
    apiKeys: memoryApiKeys(data),
    transfer: memoryTransfer(data),
    changes: memoryChanges(data),
    location: 'memory, lost when the service stops',
    async check(options) {
      data.requireOpen('checking the store', options);
    },
    close: () => data.close(),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/** Opens a new store at `memory:`, each time another. */
export const memoryStoreFactory: StoreFactory = {
  scheme: 'memory',
  check: async (url) => (url === 'memory:' ? undefined : 'must be memory: alone'),
  open: async () => openMemoryStore(),
};

/** Managed keys in memory. */
const memoryApiKeys = (data: MemoryData): ApiKeyRepository => ({
  async add(apiKey, options) {
    data.requireOpen('adding an API key', options);
    if (data.apiKeys.has(apiKey.id)) return false;
    data.apiKeys.set(apiKey.id, apiKey);
    return true;
  },

  async findById(id, options) {
    data.requireOpen('reading an API key', options);
    return data.apiKeys.get(id);
  },

  async list(options) {
    data.requireOpen('listing API keys', options);
    return [...data.apiKeys.values()].sort(byAge);
  },

  async revoke(id, at, options) {
    data.requireOpen('revoking an API key', options);
    const apiKey = data.apiKeys.get(id);
    if (apiKey === undefined) return undefined;
    const revoked = { ...apiKey, revokedAt: Math.min(at, apiKey.revokedAt ?? Infinity) };
    data.apiKeys.set(id, revoked);
    return revoked;
  },
});

/** The whole of a store in memory, for copies. */
const memoryTransfer = (data: MemoryData): CatalogueTransfer => ({
  async survey(options) {
    data.requireOpen('surveying the store', options);
    return { pets: data.pets.size, lastId: data.lastId };
  },

  async isUnfinished(options) {
    data.requireOpen('reading the mark of a copy', options);
    return data.isUnfinished;
  },

  async markUnfinished(isUnfinished, options) {
    data.requireOpen('marking a copy', options);
    data.isUnfinished = isUnfinished;
  },

  async reserveIds(last, options) {
    data.requireOpen('reserving ids', options);
    if (last > data.lastId) data.lastId = last;
  },

  async writePets(pets, options) {
    data.requireOpen('writing animals', options);
    const ids = new Set<bigint>();
    for (const pet of pets) {
      if (data.pets.has(pet.id)) continue;
      data.pets.set(pet.id, pet);
      ids.add(pet.id);
    }
    data.pets = new Map([...data.pets].sort(([one], [other]) => (one < other ? -1 : 1)));
    // The claim of a removed animal ends when its id is back.
    for (const [id, { petId }] of data.claims) if (ids.has(petId)) data.claims.delete(id);
  },

  async readClaims({ after, limit, now }, options) {
    data.requireOpen('reading claims', options);
    const start = after === undefined ? '' : claimId(after);
    return [...data.claims]
      .filter(([id, { keepUntil }]) => keepUntil > now && id > start)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit)
      .map(([, claim]) => claim);
  },

  async writeClaims(claims, options) {
    data.requireOpen('writing claims', options);
    for (const claim of claims) data.claims.set(claimId(claim), claim);
  },
});
