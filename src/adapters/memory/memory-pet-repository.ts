import type { Call } from '../../application/animal-store.js';
import type {
  AddedPet,
  AddOptions,
  Claim,
  PetRange,
  PetRepository,
} from '../../application/ports/pet-repository.js';
import { IdempotencyKeyReusedError } from '../../domain/errors.js';
import { savedPet, type Pet, type UnsavedPet } from '../../domain/pet.js';
import { claimId, type MemoryData } from './memory-data.js';

/** Animals in the memory of this process, gone when it ends. The reference adapter: the shortest to read. */
export class MemoryPetRepository implements PetRepository {
  readonly capabilities = Object.freeze({ durable: false, shared: false, ordered: true });
  readonly #data: MemoryData;

  constructor(data: MemoryData) {
    this.#data = data;
  }

  // No operation awaits anything, so each is one step that no other call can interleave with.

  async add(pet: UnsavedPet, { claim, now = new Date(), signal }: AddOptions = {}): Promise<AddedPet> {
    this.#data.enter('adding an animal', signal);
    const earlier = claim && this.#findClaimed(claim, now);
    if (earlier) return { pet: earlier, replayed: true };
    this.#data.lastId += 1n;
    const added = savedPet(this.#data.lastId, pet);
    this.#data.pets.push(added);
    if (claim) this.#data.claims.set(claimId(claim), structuredClone({ ...claim, petId: added.id }));
    return { pet: added, replayed: false };
  }

  async findById(id: bigint, { signal }: Call = {}): Promise<Pet | undefined> {
    this.#data.enter('reading an animal', signal);
    return this.#data.find(id);
  }

  async list({ after = 0n, limit, status }: PetRange, { signal }: Call = {}): Promise<readonly Pet[]> {
    this.#data.enter('listing animals', signal);
    const { pets } = this.#data;
    const page: Pet[] = [];
    for (let index = this.#data.indexAfter(after); index < pets.length && page.length < limit; index += 1) {
      const pet = pets[index];
      if (pet && (status === undefined || pet.status === status)) page.push(pet);
    }
    return page;
  }

  async check({ signal }: Call = {}): Promise<void> {
    this.#data.enter('checking the store', signal);
  }

  async close(): Promise<void> {
    this.#data.closed = true;
  }

  #findClaimed(claim: Claim, now: Date): Pet | undefined {
    // Lapsed claims go, oldest first, up to the first live one: it costs no more than it frees.
    for (const [id, { keepUntil }] of this.#data.claims) {
      if (keepUntil > now) break;
      this.#data.claims.delete(id);
    }
    const earlier = this.#data.claims.get(claimId(claim));
    if (earlier === undefined || earlier.keepUntil <= now) return undefined;
    if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
    return this.#data.find(earlier.petId);
  }
}
