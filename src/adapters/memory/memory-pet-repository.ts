import type { Call } from '../../application/call.js';
import type {
  Added,
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
} from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError, StoreUnavailableError } from '../../domain/errors.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { MemoryCatalogue, claimKey } from './memory-catalogue.js';

/** Animals in the memory of this process, gone when it ends. The reference adapter: the shortest to read. */
export class MemoryPetRepository implements PetRepository {
  /** Neither durable nor shared; ordered. */
  readonly capabilities = Object.freeze({ durable: false, shared: false, ordered: true });
  readonly #catalogue: MemoryCatalogue;
  #closed = false;

  /** @param catalogue what other adapters of the same store share with this one; one of its own when left out. */
  constructor(catalogue = new MemoryCatalogue()) {
    this.#catalogue = catalogue;
  }

  // No operation awaits anything, so each is one step that no other call can come between.

  async add(pet: UnsavedPet, { claim, signal }: AddOptions = {}): Promise<Added> {
    this.#enter('adding an animal', signal);
    const earlier = claim && this.#findClaimed(claim);
    if (earlier) return { pet: earlier, replayed: true };
    const { pets, claims } = this.#catalogue;
    this.#catalogue.lastId += 1n;
    const added = savedPet(this.#catalogue.lastId, pet);
    pets.push(added);
    if (claim) {
      const { scope, token, fingerprint, keepUntil } = claim;
      const kept = { scope, token, fingerprint, petId: added.id, keepUntil: new Date(keepUntil) };
      claims.set(claimKey(claim), kept);
    }
    return { pet: added, replayed: false };
  }

  async findById(id: bigint, { signal }: Call = {}): Promise<Pet | undefined> {
    this.#enter('reading an animal', signal);
    return this.#catalogue.find(id);
  }

  async list({ after = 0n, limit, status }: PetRange, { signal }: Call = {}): Promise<readonly Pet[]> {
    this.#enter('listing animals', signal);
    const { pets } = this.#catalogue;
    const page: Pet[] = [];
    for (
      let index = this.#catalogue.countUpTo(after);
      index < pets.length && page.length < limit;
      index += 1
    ) {
      const pet = pets[index];
      if (pet && (status === undefined || pet.status === status)) page.push(pet);
    }
    return page;
  }

  async check({ signal }: Call = {}): Promise<void> {
    this.#enter('checking the store', signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #enter(doing: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StoreUnavailableError(`${doing} after close`);
  }

  #findClaimed(claim: Claim): Pet | undefined {
    this.#sweepClaims(claim.now);
    const earlier = this.#catalogue.claims.get(claimKey(claim));
    if (earlier === undefined || earlier.keepUntil <= claim.now) return undefined;
    if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
    return this.#catalogue.find(earlier.petId);
  }

  /** Forgets lapsed claims, oldest first; stops at the first living one, so that it costs no more than it frees. */
  #sweepClaims(now: Date): void {
    for (const [key, { keepUntil }] of this.#catalogue.claims) {
      if (keepUntil > now) return;
      this.#catalogue.claims.delete(key);
    }
  }
}
