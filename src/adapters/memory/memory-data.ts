import type { ApiKeyRecord } from '../../application/ports/api-key-repository.js';
import type { PetClaim } from '../../application/ports/catalogue-transfer.js';
import { UnavailableError } from '../../domain/errors.js';
import type { Pet } from '../../domain/pet.js';

/** The data of one store in memory, shared by its adapters. */
export class MemoryData {
  /** In ascending order of id. */
  readonly pets: Pet[] = [];
  /** The greatest id that was assigned or reserved. */
  lastId = 0n;
  isUnfinished = false;
  /** By `claimId`, oldest first. */
  readonly claims = new Map<string, PetClaim>();
  /** By id. */
  readonly apiKeys = new Map<string, ApiKeyRecord>();
  #closed = false;

  /** Every operation begins with this. */
  requireOpen(doing: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new UnavailableError(`${doing} after close`);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** The index of the first animal with an id greater than this one, in logarithmic time. */
  indexAfter(id: bigint): number {
    let [low, high] = [0, this.pets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.pets[middle]?.id ?? id) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  find(id: bigint): Pet | undefined {
    const pet = this.pets[this.indexAfter(id) - 1];
    return pet?.id === id ? pet : undefined;
  }
}
