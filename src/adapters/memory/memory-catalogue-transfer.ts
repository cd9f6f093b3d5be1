import type { Call } from '../../application/call.js';
import { byAge, type ApiKeyRecord } from '../../application/ports/api-key-repository.js';
import type {
  CatalogueSurvey,
  CatalogueTransfer,
  ClaimBatch,
  KeptClaim,
  PetBatch,
} from '../../application/ports/catalogue-transfer.js';
import { StoreUnavailableError } from '../../domain/errors.js';
import { savedPet, type Pet } from '../../domain/pet.js';
import { copyKey } from './memory-api-key-repository.js';
import { claimKey, type MemoryCatalogue } from './memory-catalogue.js';

/** All of a store in memory, for the repositories that were given the same catalogue. */
export class MemoryCatalogueTransfer implements CatalogueTransfer {
  readonly #catalogue: MemoryCatalogue;
  #closed = false;

  constructor(catalogue: MemoryCatalogue) {
    this.#catalogue = catalogue;
  }

  async survey({ signal }: Call = {}): Promise<CatalogueSurvey> {
    this.#enter('surveying the store', signal);
    const { pets, apiKeys, lastId } = this.#catalogue;
    return {
      empty: pets.length + apiKeys.size === 0,
      pets: pets.length,
      lastId,
      revision: JSON.stringify([pets.length, ...apiKeys.values()]),
    };
  }

  async readPets({ after = 0n, limit }: PetBatch, { signal }: Call = {}): Promise<readonly Pet[]> {
    this.#enter('reading animals', signal);
    const start = this.#catalogue.countUpTo(after);
    return this.#catalogue.pets.slice(start, start + limit);
  }

  async writePets(pets: readonly Pet[], { signal }: Call = {}): Promise<void> {
    this.#enter('writing animals', signal);
    for (const pet of pets) {
      if (this.#catalogue.find(pet.id) !== undefined) continue;
      this.#catalogue.pets.splice(this.#catalogue.countUpTo(pet.id), 0, savedPet(pet.id, pet));
    }
  }

  async readClaims({ after, limit, now }: ClaimBatch, { signal }: Call = {}): Promise<readonly KeptClaim[]> {
    this.#enter('reading claims', signal);
    const start = after && claimKey(after);
    return [...this.#catalogue.claims]
      .filter(([key, { keepUntil }]) => keepUntil > now && (start === undefined || key > start))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .slice(0, limit)
      .map(([, claim]) => structuredClone(claim));
  }

  async writeClaims(claims: readonly KeptClaim[], { signal }: Call = {}): Promise<void> {
    this.#enter('writing claims', signal);
    for (const claim of claims) this.#catalogue.claims.set(claimKey(claim), structuredClone(claim));
  }

  async readApiKeys({ signal }: Call = {}): Promise<readonly ApiKeyRecord[]> {
    this.#enter('reading keys', signal);
    return [...this.#catalogue.apiKeys.values()].map(copyKey).sort(byAge);
  }

  async writeApiKeys(keys: readonly ApiKeyRecord[], { signal }: Call = {}): Promise<void> {
    this.#enter('writing keys', signal);
    for (const key of keys) this.#catalogue.apiKeys.set(key.id, copyKey(key));
  }

  async reserveIds(last: bigint, { signal }: Call = {}): Promise<void> {
    this.#enter('reserving ids', signal);
    if (last > this.#catalogue.lastId) this.#catalogue.lastId = last;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #enter(doing: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StoreUnavailableError(`${doing} after close`);
  }
}
