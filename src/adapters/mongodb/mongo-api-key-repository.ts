import { ObjectId } from 'mongodb';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import type { MongoConnection } from './mongo-connection.js';
import { unreadable } from './mongo-errors.js';
import { insertOrFind } from './retry.js';

/** A key in the database. */
interface ApiKeyDocument extends Pick<ApiKeyRecord, 'name' | 'hash' | 'scopes'> {
  readonly _id: string;
  readonly createdAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
  readonly operation: ObjectId;
}

/** Managed keys in a MongoDB database, as hashes. */
export function mongoApiKeys(connection: MongoConnection): ApiKeyRepository {
  const apiKeys = connection.collection<ApiKeyDocument>('apiKeys');
  return {
    async add(apiKey, call) {
      const document = toDocument(apiKey);
      return connection.write('adding an API key', call, async (options) => {
        const { operation } = await insertOrFind(apiKeys, document, options);
        return document.operation.equals(operation);
      });
    },

    findById: (id, call) =>
      connection.run('reading an API key', call, async (options) => {
        // With `$eq` an id is always a value, never an operator.
        const found = await apiKeys.findOne({ _id: { $eq: id } }, options);
        return found === null ? undefined : toApiKey(found);
      }),

    list: (call) =>
      connection.run('listing API keys', call, async (options) => {
        const found = await apiKeys.find({}, options).toArray();
        // Sorted here: MongoDB compares text by code point.
        return found.map(toApiKey).sort(byAge);
      }),

    async revoke(id, at, call) {
      // `$min` keeps the earliest instant, so repeating it changes nothing.
      const update = { $min: { revokedAt: new Date(at) } };
      return connection.write('revoking an API key', call, async (options) => {
        const found = await apiKeys.findOneAndUpdate({ _id: { $eq: id } }, update, {
          ...options,
          returnDocument: 'after',
        });
        return found === null ? undefined : toApiKey(found);
      });
    },
  };
}

function toDocument(apiKey: ApiKeyRecord): ApiKeyDocument {
  const { id: _id, name, hash, scopes, createdAt, expiresAt, revokedAt } = apiKey;
  return {
    _id,
    name,
    hash,
    scopes,
    createdAt: new Date(createdAt),
    // The driver ignores fields that are undefined.
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    revokedAt: revokedAt === undefined ? undefined : new Date(revokedAt),
    operation: new ObjectId(),
  };
}

/** @throws {UnavailableError} another program wrote a field of the key, such as `revokedAt`, with a wrong type. */
function toApiKey(document: ApiKeyDocument): ApiKeyRecord {
  const { _id: id, name, hash, scopes, createdAt, expiresAt, revokedAt } = document;
  const isReadable =
    Array.isArray(scopes) &&
    [id, name, hash, ...scopes].every((value) => typeof value === 'string') &&
    isTime(createdAt) &&
    [expiresAt, revokedAt].every((value) => value === undefined || isTime(value));
  if (!isReadable) throw unreadable('apiKeys', id, 'a field is missing or has the wrong type');
  return {
    id,
    name,
    hash,
    scopes,
    createdAt: createdAt.getTime(),
    ...(expiresAt && { expiresAt: expiresAt.getTime() }),
    ...(revokedAt && { revokedAt: revokedAt.getTime() }),
  };
}

const isTime = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
