import type { Call } from '../../../src/application/animal-store.js';
import type { AddedPet, PetRepository } from '../../../src/application/ports/pet-repository.js';
import type { Pet } from '../../../src/domain/pet.js';

interface HeldCall {
  readonly signal: AbortSignal | undefined;
  readonly fail: (error: unknown) => void;
  readonly answer: () => void;
}

/** A store that answers when the test says so, and does not heed its signals. */
export class HeldPetRepository implements PetRepository {
  readonly capabilities = { durable: false, shared: false };
  readonly calls: HeldCall[] = [];
  /** What `check` does. */
  health: (call?: Call) => Promise<void> = async () => {};
  checks = 0;
  #arrival = Promise.withResolvers<void>();

  /** Waits until so many calls have come in all. */
  async called(count: number): Promise<void> {
    while (this.calls.length < count) await this.#arrival.promise;
  }

  add(_pet: unknown, call?: Call): Promise<AddedPet> {
    const pet: Pet = { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' };
    return this.#hold(call, { pet, replayed: false });
  }

  findById(_id: bigint, call?: Call): Promise<Pet | undefined> {
    return this.#hold(call, undefined);
  }

  list(_range: unknown, call?: Call): Promise<readonly Pet[]> {
    return this.#hold(call, []);
  }

  check(call?: Call): Promise<void> {
    this.checks += 1;
    return this.health(call);
  }

  async close(): Promise<void> {
    for (const { answer } of this.calls) answer();
  }

  #hold<T>(call: Call | undefined, result: T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.calls.push({ signal: call?.signal, fail: reject, answer: () => resolve(result) });
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
    return promise;
  }
}
