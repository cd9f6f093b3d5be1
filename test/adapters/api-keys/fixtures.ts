import { crc32 } from 'node:zlib';
import { ApiKeyAuthenticator } from '../../../src/adapters/api-keys/api-key-authenticator.js';
import { apiKeyGenerator } from '../../../src/adapters/api-keys/api-key.js';
import { openMemoryStore } from '../../../src/adapters/memory/open-memory-store.js';
import { ManagedApiKeys } from '../../../src/application/manage-api-keys.js';
import type { ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import type { Clock } from '../../../src/application/ports/clock.js';
import type { OpenedAuthenticator } from '../../contract/index.js';

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
  /** Closes its store. */
  close(): Promise<void>;
}

export function observedApiKeys(): ObservedApiKeys {
  const { apiKeys, close } = openMemoryStore();
  let gate: PromiseWithResolvers<void> | undefined;
  const lookUps: string[] = [];
  return {
    ...apiKeys,
    lookUps,
    close,
    hold() {
      gate = Promise.withResolvers();
    },
    release: () => gate?.resolve(),
    async findById(id) {
      lookUps.push(id);
      // Read at once, as a store may, and answered later.
      const read = apiKeys.findById(id);
      read.catch(() => undefined);
      await gate?.promise;
      return read;
    },
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

/** An authenticator with managed keys in every state. */
export async function openAuthenticator(): Promise<OpenedAuthenticator> {
  const clock = new SettableClock();
  const { apiKeys, close } = openMemoryStore();
  const generate = apiKeyGenerator();
  const managed = new ManagedApiKeys({ apiKeys, generate, clock });
  const writer = await managed.issue({ name: 'writer', scopes: ['pets:write'] });
  const all = await managed.issue({ name: 'all', scopes: SCOPES });
  const ended = await managed.issue({ name: 'revoked', scopes: SCOPES });
  await managed.revoke(ended.record.id);
  const late = await managed.issue({ name: 'expired', scopes: SCOPES, expiresAt: clock.in(1) });
  clock.advance(1);
  return {
    authenticator: new ApiKeyAuthenticator({ staticKeys: ['a-static-key'], apiKeys, clock }),
    accepted: [writer, all].map(({ key, record }) => ({
      credential: key,
      keyId: record.id,
      scopes: SCOPES.filter((scope) => record.scopes.includes(scope)),
    })),
    refused: [
      { credential: generate().key, reason: 'unknown' },
      { credential: late.key, reason: 'expired' },
      { credential: ended.key, reason: 'revoked' },
    ],
    loseStore: close,
    close,
  };
}
