import type { Call } from '../../application/call.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import { StoreUnavailableError } from '../../domain/errors.js';

/** Managed keys in the memory of this process, gone when it ends. */
export class MemoryApiKeyRepository implements ApiKeyRepository {
  readonly #keys = new Map<string, ApiKeyRecord>();
  #closed = false;

  async add(key: ApiKeyRecord, { signal }: Call = {}): Promise<boolean> {
    this.#enter('adding a key', signal);
    if (this.#keys.has(key.id)) return false;
    this.#keys.set(key.id, copy(key));
    return true;
  }

  async findById(id: string, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    this.#enter('reading a key', signal);
    const key = this.#keys.get(id);
    return key && copy(key);
  }

  async list({ signal }: Call = {}): Promise<readonly ApiKeyRecord[]> {
    this.#enter('listing keys', signal);
    return [...this.#keys.values()].map(copy).sort(byAge);
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
    const changed = copy({ ...change(copy(key)), id, hash, createdAt });
    this.#keys.set(id, changed);
    return copy(changed);
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
const copy = (key: ApiKeyRecord): ApiKeyRecord => structuredClone(key);

const byAge = (one: ApiKeyRecord, other: ApiKeyRecord): number =>
  one.createdAt.getTime() - other.createdAt.getTime() || (one.id < other.id ? -1 : 1);
