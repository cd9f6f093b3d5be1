import { crc32 } from 'node:zlib';
import { openMemoryStore } from '../../../src/adapters/memory/open-memory-store.js';
import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import type { Clock } from '../../../src/application/ports/clock.js';

/** A clock that stands still until a test advances it. */
export class SettableClock implements Clock {
  #time = Date.now();

  now(): Date {
    return new Date(this.#time);
  }

  advance(milliseconds: number): void {
    this.#time += milliseconds;
  }

  /** The instant this many milliseconds from now. */
  in(milliseconds: number): Date {
    return new Date(this.#time + milliseconds);
  }
}

/** A repository in memory that records its look-ups, and answers them only on `release` while it is held. */
export interface ObservedApiKeys extends ApiKeyRepository {
  readonly lookUps: string[];
  hold(): void;
  release(): void;
}

export function observedApiKeys(): ObservedApiKeys {
  const { apiKeys } = openMemoryStore();
  let gate: PromiseWithResolvers<void> | undefined;
  const lookUps: string[] = [];
  return {
    lookUps,
    hold: () => void (gate = Promise.withResolvers()),
    release: () => gate?.resolve(),
    add: (apiKey) => apiKeys.add(apiKey),
    async findById(id) {
      lookUps.push(id);
      // Read at once, as a store may, and answered later.
      const read = apiKeys.findById(id);
      read.catch(() => undefined);
      await gate?.promise;
      return read;
    },
    list: () => apiKeys.list(),
    revoke: (id, at) => apiKeys.revoke(id, at),
    close: () => apiKeys.close(),
  };
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The text with the checksum that belongs to it: CRC-32 as 6 base-62 digits. */
export function withChecksum(content: string): string {
  let digits = '';
  for (let rest = crc32(content); digits.length < 6; rest = Math.floor(rest / 62)) {
    digits = DIGITS.charAt(rest % 62) + digits;
  }
  return `${content}_${digits}`;
}
