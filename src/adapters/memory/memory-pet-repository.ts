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

/** Animals in the memory of this process, gone when it ends. The reference adapter: the shortest to read. */
export class MemoryPetRepository implements PetRepository {
  readonly capabilities = Object.freeze({ durable: false, shared: false });
  /** The animal with id n stands at n - 1: ids are 1, 2, 3, ... and nothing is ever removed. */
  readonly #pets: Pet[] = [];
  readonly #claims = new Map<
    string,
    { readonly fingerprint: string; readonly keepUntil: Date; readonly pet: Pet }
  >();
  #closed = false;

  // No operation awaits anything, so each is one step that no other call can come between.

  async add(pet: UnsavedPet, { claim, signal }: AddOptions = {}): Promise<Added> {
    this.#enter('adding an animal', signal);
    const earlier = claim && this.#findClaim(claim);
    if (earlier) return { pet: earlier, replayed: true };
    const added = savedPet(BigInt(this.#pets.length + 1), pet);
    this.#pets.push(added);
    if (claim) {
      const { fingerprint, keepUntil } = claim;
      this.#claims.set(claimKey(claim), { fingerprint, keepUntil: new Date(keepUntil), pet: added });
    }
    return { pet: added, replayed: false };
  }

  async findById(id: bigint, { signal }: Call = {}): Promise<Pet | undefined> {
    this.#enter('reading an animal', signal);
    return this.#pets[Number(id) - 1];
  }

  async list({ after = 0n, limit, status }: PetRange, { signal }: Call = {}): Promise<readonly Pet[]> {
    this.#enter('listing animals', signal);
    const page: Pet[] = [];
    for (
      let index = Math.max(0, Number(after));
      index < this.#pets.length && page.length < limit;
      index += 1
    ) {
      const pet = this.#pets[index];
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

  #findClaim(claim: Claim): Pet | undefined {
    this.#sweepClaims(claim.now);
    const earlier = this.#claims.get(claimKey(claim));
    if (earlier === undefined || earlier.keepUntil <= claim.now) return undefined;
    if (earlier.fingerprint !== claim.fingerprint) throw new IdempotencyKeyReusedError();
    return earlier.pet;
  }

  /** Forgets lapsed claims, oldest first; stops at the first living one, so that it costs no more than it frees. */
  #sweepClaims(now: Date): void {
    for (const [key, { keepUntil }] of this.#claims) {
      if (keepUntil > now) return;
      this.#claims.delete(key);
    }
  }
}

const claimKey = ({ scope, token }: Claim): string => JSON.stringify([scope, token]);
