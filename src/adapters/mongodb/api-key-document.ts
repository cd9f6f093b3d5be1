import type { ObjectId } from 'mongodb';
import type { ApiKeyRecord } from '../../application/ports/api-key-repository.js';

/** A key as it is written. What is read may have been written by another program, in any types. */
export interface ApiKeyDocument {
  readonly _id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
  /** The latest write: a change is made only to what it was made from. */
  readonly operation: ObjectId;
}

export type FoundApiKey = { readonly [Field in keyof ApiKeyDocument]?: unknown } & { readonly _id: unknown };

/** The document, taken at once: the caller may change its dates and scopes as soon as it has the promise. */
export const toApiKeyDocument = (key: ApiKeyRecord, operation: ObjectId): ApiKeyDocument => ({
  _id: key.id,
  name: key.name,
  hash: key.hash,
  scopes: [...key.scopes],
  createdAt: new Date(key.createdAt),
  ...(key.expiresAt !== undefined && { expiresAt: new Date(key.expiresAt) }),
  ...(key.revokedAt !== undefined && { revokedAt: new Date(key.revokedAt) }),
  operation,
});

/**
 * The key in a document; `undefined` when it is not wholly as it has to be: a key that somebody revoked by hand, in
 * a wrong type, must not count as one that was not revoked.
 */
export function toApiKey(found: FoundApiKey): ApiKeyRecord | undefined {
  const { _id: id, name, hash, scopes, createdAt, expiresAt, revokedAt } = found;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof hash !== 'string') return undefined;
  if (!isTime(createdAt) || !Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
    return undefined;
  if (expiresAt !== undefined && !isTime(expiresAt)) return undefined;
  if (revokedAt !== undefined && !isTime(revokedAt)) return undefined;
  return {
    id,
    name,
    hash,
    scopes,
    createdAt,
    ...(expiresAt && { expiresAt }),
    ...(revokedAt && { revokedAt }),
  };
}

const isTime = (value: unknown): value is Date => value instanceof Date && !Number.isNaN(value.getTime());
