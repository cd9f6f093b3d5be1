import type { ApiKeyRecord } from '../../application/ports/api-key-repository.js';
import type { KeptClaim } from '../../application/ports/catalogue-transfer.js';
import type { Pet } from '../../domain/pet.js';

/** All that one store in memory keeps, for the adapters that share it. */
export class MemoryCatalogue {
  /** Ascending by id; nothing is ever removed. */
  readonly pets: Pet[] = [];
  /** The greatest id that was assigned or reserved. */
  lastId = 0n;
  /** Each by a text of its scope and token, which no other pair gives. */
  readonly claims = new Map<string, KeptClaim>();
  /** The managed keys, by their id. */
  readonly apiKeys = new Map<string, ApiKeyRecord>();

  /** How many animals have ids up to this one: where those with greater ids begin. */
  countUpTo(id: bigint): number {
    let [low, high] = [0, this.pets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.pets[middle]?.id ?? id) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The animal with this id, found in logarithmic time. */
  find(id: bigint): Pet | undefined {
    const pet = this.pets[this.countUpTo(id) - 1];
    return pet?.id === id ? pet : undefined;
  }
}

/** Tells claims apart: no two pairs of scope and token give the same text. */
export const claimKey = ({ scope, token }: Pick<KeptClaim, 'scope' | 'token'>): string =>
  JSON.stringify([scope, token]);
