import { MemoryApiKeyRepository } from '../../../src/adapters/memory/memory-api-key-repository.js';
import type { Call } from '../../../src/application/animal-store.js';
import type { ApiKeyRecord } from '../../../src/application/ports/api-key-repository.js';

/** The memory adapter, telling which ids were looked up and, while it is held, answering look-ups only on release. */
export class ObservedApiKeyRepository extends MemoryApiKeyRepository {
  readonly lookUps: string[] = [];
  readonly signals: (AbortSignal | undefined)[] = [];
  #gate: PromiseWithResolvers<void> | undefined;

  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Reads at once, as a store may, and answers when it is let. */
  override async findById(id: string, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    this.lookUps.push(id);
    this.signals.push(call.signal);
    const read = super.findById(id, call);
    read.catch(() => undefined);
    await this.#gate?.promise;
    return read;
  }
}
