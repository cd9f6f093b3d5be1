import type { Call } from '../../application/animal-store.js';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimRange,
  PetClaim,
} from '../../application/ports/catalogue-transfer.js';
import type { FullStore } from '../../application/ports/store.js';
import { savedPet, type Pet } from '../../domain/pet.js';
import { claimId, MemoryData } from './memory-data.js';
import { MemoryPetRepository } from './memory-pet-repository.js';

/** Opens a new, empty store in the memory of this process. Its data is gone when the process ends. */
export function openMemoryStore(): FullStore {
  const data = new MemoryData();
  const pets = new MemoryPetRepository(data);
  return {
    pets,
    apiKeys: new MemoryApiKeyRepository(data),
    transfer: new MemoryCatalogueTransfer(data),
    location: 'memory, lost when the service stops',
    close: () => pets.close(),
  };
}

/** Managed keys in memory. Copied both ways: dates are mutable. */
class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #data: MemoryData;

  constructor(data: MemoryData) {
    this.#data = data;
  }

  async add(apiKey: ApiKeyRecord, { signal }: Call = {}): Promise<boolean> {
    this.#data.enter('adding an API key', signal);
    if (this.#data.apiKeys.has(apiKey.id)) return false;
    this.#data.apiKeys.set(apiKey.id, structuredClone(apiKey));
    return true;
  }

  async findById(id: string, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    this.#data.enter('reading an API key', signal);
    return structuredClone(this.#data.apiKeys.get(id));
  }

  async list({ signal }: Call = {}): Promise<readonly ApiKeyRecord[]> {
    this.#data.enter('listing API keys', signal);
    return [...this.#data.apiKeys.values()].map((apiKey) => structuredClone(apiKey)).sort(byAge);
  }

  async revoke(id: string, at: Date, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    this.#data.enter('revoking an API key', signal);
    const apiKey = this.#data.apiKeys.get(id);
    if (apiKey === undefined) return undefined;
    const revokedAt = new Date(Math.min(at.getTime(), apiKey.revokedAt?.getTime() ?? Infinity));
    this.#data.apiKeys.set(id, { ...apiKey, revokedAt });
    return structuredClone({ ...apiKey, revokedAt });
  }

  async close(): Promise<void> {
    this.#data.closed = true;
  }
}

/** The whole of a store in memory, for copies. */
class MemoryCatalogueTransfer implements CatalogueTransfer {
  readonly #data: MemoryData;

  constructor(data: MemoryData) {
    this.#data = data;
  }

  async survey({ signal }: Call = {}): Promise<CatalogueSurvey> {
    this.#data.enter('surveying the store', signal);
    return { pets: this.#data.pets.length, lastId: this.#data.lastId };
  }

  async reserveIds(last: bigint, { signal }: Call = {}): Promise<void> {
    this.#data.enter('reserving ids', signal);
    if (last > this.#data.lastId) this.#data.lastId = last;
  }

  async writePets(pets: readonly Pet[], { signal }: Call = {}): Promise<void> {
    this.#data.enter('writing animals', signal);
    for (const pet of pets) {
      if (this.#data.find(pet.id) !== undefined) continue;
      this.#data.pets.splice(this.#data.indexAfter(pet.id), 0, savedPet(pet.id, pet));
    }
  }

  async readClaims({ after, limit, now }: ClaimRange, { signal }: Call = {}): Promise<readonly PetClaim[]> {
    this.#data.enter('reading claims', signal);
    const start = after === undefined ? '' : claimId(after);
    return [...this.#data.claims]
      .filter(([id, { keepUntil }]) => keepUntil > now && id > start)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit)
      .map(([, claim]) => structuredClone(claim));
  }

  async writeClaims(claims: readonly PetClaim[], { signal }: Call = {}): Promise<void> {
    this.#data.enter('writing claims', signal);
    for (const claim of claims) this.#data.claims.set(claimId(claim), structuredClone(claim));
  }
}
