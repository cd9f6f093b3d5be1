import { byAge, type ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import type { CatalogueTransfer } from '../../application/ports/catalogue-transfer.js';
import { claimId } from '../../application/ports/pet-repository.js';
import type { CompleteStore, StoreFactory } from '../../application/ports/store.js';
import { petWithId } from '../../domain/pet.js';
import { MemoryData, memoryChanges, memoryPets } from './memory-pet-repository.js';

/** Opens a new, empty store in the memory of this process. Its data is gone when the process ends. */
export function openMemoryStore(): CompleteStore {
  const data = new MemoryData();
  return {
    pets: memoryPets(data),
    apiKeys: memoryApiKeys(data),
    transfer: memoryTransfer(data),
    changes: memoryChanges(data),
    location: 'memory, lost when the service stops',
    async check({ signal } = {}) {
      data.requireOpen('checking the store', signal);
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
  async add(apiKey, { signal } = {}) {
    data.requireOpen('adding an API key', signal);
    if (data.apiKeys.has(apiKey.id)) return false;
    data.apiKeys.set(apiKey.id, apiKey);
    return true;
  },

  async findById(id, { signal } = {}) {
    data.requireOpen('reading an API key', signal);
    return data.apiKeys.get(id);
  },

  async list({ signal } = {}) {
    data.requireOpen('listing API keys', signal);
    return [...data.apiKeys.values()].sort(byAge);
  },

  async revoke(id, at, { signal } = {}) {
    data.requireOpen('revoking an API key', signal);
    const apiKey = data.apiKeys.get(id);
    if (apiKey === undefined) return undefined;
    const revoked = { ...apiKey, revokedAt: Math.min(at, apiKey.revokedAt ?? Infinity) };
    data.apiKeys.set(id, revoked);
    return revoked;
  },
});

/** The whole of a store in memory, for copies. */
const memoryTransfer = (data: MemoryData): CatalogueTransfer => ({
  async survey({ signal } = {}) {
    data.requireOpen('surveying the store', signal);
    return { pets: data.pets.length, lastId: data.lastId };
  },

  async isUnfinished({ signal } = {}) {
    data.requireOpen('reading the mark of a copy', signal);
    return data.isUnfinished;
  },

  async markUnfinished(isUnfinished, { signal } = {}) {
    data.requireOpen('marking a copy', signal);
    data.isUnfinished = isUnfinished;
  },

  async reserveIds(last, { signal } = {}) {
    data.requireOpen('reserving ids', signal);
    if (last > data.lastId) data.lastId = last;
  },

  async writePets(pets, { signal } = {}) {
    data.requireOpen('writing animals', signal);
    const written = pets.filter(({ id }) => data.find(id) === undefined);
    const ids = new Set(written.map(({ id }) => id));
    for (const [id, { petId }] of data.claims) if (ids.has(petId)) data.claims.delete(id);
    for (const pet of written) data.pets.splice(data.indexAfter(pet.id), 0, petWithId(pet.id, pet));
  },

  async readClaims({ after, limit, now }, { signal } = {}) {
    data.requireOpen('reading claims', signal);
    const start = after === undefined ? '' : claimId(after);
    return [...data.claims]
      .filter(([id, { keepUntil }]) => keepUntil > now && id > start)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit)
      .map(([, claim]) => claim);
  },

  async writeClaims(claims, { signal } = {}) {
    data.requireOpen('writing claims', signal);
    for (const claim of claims) data.claims.set(claimId(claim), claim);
  },
});
