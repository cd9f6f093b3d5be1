import type { Call } from '../../application/call.js';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import { StoreUnavailableError } from '../../domain/errors.js';
import { MemoryCatalogue } from './memory-catalogue.js';

/** Managed keys in the memory of this process, gone when it ends. */
export class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #keys: Map<string, ApiKeyRecord>;
  #closed = false;

  /** @param catalogue what other adapters of the same store share with this one; one of its own when left out. */
  constructor({ apiKeys } = new MemoryCatalogue()) {
    this.#keys = apiKeys;
  }

  async add(key: ApiKeyRecord, { signal }: Call = {}): Promise<boolean> {
    this.#enter('adding a key', signal);
    if (this.#keys.has(key.id)) return false;
    this.#keys.set(key.id, copyKey(key));
    return true;
  }

  async findById(id: string, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    this.#enter('reading a key', signal);
    const key = this.#keys.get(id);
    return key && copyKey(key);
  }

  async list({ signal }: Call = {}): Promise<readonly ApiKeyRecord[]> {
    this.#enter('listing keys', signal);
    return [...this.#keys.values()].map(copyKey).sort(byAge);
  }

  async update(
    id: string,
    change: (key: ApiKeyRecord) => ApiKeyRecord,
    { signal }: Call = {},
  ): Promise<ApiKeyRecord | undefined> {
    this.#enter('changing a key', signal);
    const key = this.#keys.get(id);
    if (key === undefined) return undefined;
    const { hash, createdAt } = key;
    const changed = copyKey({ ...change(copyKey(key)), id, hash, createdAt });
    this.#keys.set(id, changed);
    return copyKey(changed);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #enter(doing: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StoreUnavailableError(`${doing} after close`);
  }
}

/** A deep copy: dates can be changed in place, and must not change what is kept. */
export const copyKey = (key: ApiKeyRecord): ApiKeyRecord => structuredClone(key);
