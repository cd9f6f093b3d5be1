import type { Call } from '../../application/call.js';
import {
  byDayOperationAndKey,
  type DeprecatedCallBatch,
  type DeprecatedCallQuery,
  type DeprecatedCallRepository,
  type DeprecatedCalls,
} from '../../application/ports/deprecated-call-repository.js';
import { StoreUnavailableError } from '../../domain/errors.js';

/** Counts in the memory of this process, gone when it ends. */
export class MemoryDeprecatedCallRepository implements DeprecatedCallRepository {
  readonly #counts = new Map<string, DeprecatedCalls>();
  #closed = false;

  async record({ counts }: DeprecatedCallBatch, { signal }: Call = {}): Promise<void> {
    this.#enter('counting deprecated calls', signal);
    for (const { day, operationId, keyId, calls, lastAt } of counts) {
      const id = JSON.stringify([day, operationId, keyId]);
      const kept = this.#counts.get(id);
      this.#counts.set(id, {
        day,
        operationId,
        keyId,
        calls: calls + (kept?.calls ?? 0),
        lastAt: new Date(Math.max(lastAt.getTime(), kept?.lastAt.getTime() ?? -Infinity)),
      });
    }
  }

  async list(
    { since = '' }: DeprecatedCallQuery = {},
    { signal }: Call = {},
  ): Promise<readonly DeprecatedCalls[]> {
    this.#enter('listing deprecated calls', signal);
    return [...this.#counts.values()]
      .filter(({ day }) => day >= since)
      .map((counted) => structuredClone(counted))
      .sort(byDayOperationAndKey);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #enter(doing: string, signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) throw new StoreUnavailableError(`${doing} after close`);
  }
}
