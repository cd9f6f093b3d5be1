import { assert } from '../assert.js';
import type { ApiKeyRecord, ApiKeyRepository } from '../../../src/application/ports/api-key-repository.js';
import { SCOPES } from '../../../src/application/ports/authenticator.js';
import type { PetRepositoryCapabilities } from '../../../src/application/ports/pet-repository.js';
import type { ContractCase, Subject } from '../contract.js';
import { durable, shared, type MoreHandles } from '../handles.js';

/** An empty store of keys to hold to the contract. */
export interface ApiKeyRepositorySubject extends Subject, MoreHandles<ApiKeyRepository> {
  /** The repository itself. */
  readonly keys: ApiKeyRepository;
  /** What the store declares itself; when left out, durable with `reopen` and shared with `another`. */
  readonly capabilities?: PetRepositoryCapabilities | undefined;
}

export type ApiKeyRepositoryCase = ContractCase<ApiKeyRepositorySubject>;

export const DURABLE = durable<ApiKeyRepositorySubject>(
  ({ capabilities, reopen }) => capabilities?.durable ?? reopen !== undefined,
);
export const SHARED = shared<ApiKeyRepositorySubject>(
  ({ capabilities, another }) => capabilities?.shared ?? another !== undefined,
);

/** A key of which everything differs from every other id's, with a time of its own. */
export const sampleKey = (fields: Partial<ApiKeyRecord> = {}): ApiKeyRecord => {
  const { id = 'k1' } = fields;
  return {
    id,
    name: `the key ${id}`,
    hash: Array.from(id, (character) => character.charCodeAt(0).toString(16))
      .join('')
      .padEnd(64, '0'),
    scopes: [...SCOPES],
    createdAt: new Date(1_750_000_000_123),
    ...fields,
  };
};

/** A key that has everything it can have. */
export const fullKey = (): ApiKeyRecord =>
  sampleKey({
    id: 'full',
    expiresAt: new Date(1_750_000_000_124),
    revokedAt: new Date(1_750_000_000_001),
    replacedBy: 'k2',
  });

/** Adds the keys all at once. */
export async function addKeys(keys: ApiKeyRepository, records: readonly ApiKeyRecord[]): Promise<void> {
  for (const added of await Promise.all(records.map((record) => keys.add(record)))) assert.equal(added, true);
}
