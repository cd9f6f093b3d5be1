import { types } from 'node:util';
import { ObjectId } from 'mongodb';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import type { MongoConnection } from './mongo-connection.js';
import { unreadable } from './mongo-errors.js';
import { insertOrFind } from './retry.js';

/** A key in the database. Version 0.1 also wrote `replacedBy`, which is ignored. */
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
    async add(apiKey, { signal } = {}) {
      const { id: _id, name, hash, scopes, ...times } = apiKey;
      const dates = {
        createdAt: new Date(times.createdAt),
        expiresAt: dateOf(times.expiresAt),
        revokedAt: dateOf(times.revokedAt),
      };
      const document = { _id, name, hash, scopes, ...dates, operation: new ObjectId() };
      return connection.write('adding an API key', { signal }, async (options) => {
        const { operation } = await insertOrFind(apiKeys, document, options);
        return document.operation.equals(operation);
      });
    },

    findById: (id, { signal } = {}) =>
      connection.run('reading an API key', { signal }, async (options) => {
        // With `$eq` an id is always a value, never an operator.
        const found = await apiKeys.findOne({ _id: { $eq: id } }, options);
        return found === null ? undefined : toApiKey(found);
      }),

    list: ({ signal } = {}) =>
      connection.run('listing API keys', { signal }, async (options) => {
        const found = await apiKeys.find({}, options).toArray();
        // Sorted here: MongoDB compares text by code point.
        return found.map(toApiKey).sort(byAge);
      }),

    async revoke(id, at, { signal } = {}) {
      const revokedAt = new Date(at);
      return connection.write('revoking an API key', { signal }, async (options) => {
        // `$min` keeps the earliest instant, so repeating it changes nothing.
        const found = await apiKeys.findOneAndUpdate(
          { _id: { $eq: id } },
          { $min: { revokedAt } },
          { ...options, returnDocument: 'after' },
        );
        return found === null ? undefined : toApiKey(found);
      });
    },
  };
}

const dateOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time));

const isText = (value: unknown): boolean => typeof value === 'string';

const isTime = (value: unknown): boolean => types.isDate(value) && !Number.isNaN(value.getTime());

/** @throws {UnavailableError} another program wrote a field of the key, such as `revokedAt`, with a wrong type. */
function toApiKey(document: ApiKeyDocument): ApiKeyRecord {
  const { _id: id, name, hash, scopes, createdAt, expiresAt, revokedAt } = document;
  const hasTexts = Array.isArray(scopes) && [id, name, hash, ...scopes].every(isText);
  const hasTimes =
    isTime(createdAt) && [expiresAt, revokedAt].every((end) => end === undefined || isTime(end));
  if (hasTexts && hasTimes)
    return {
      id,
      name,
      hash,
      scopes,
      createdAt: createdAt.getTime(),
      ...(expiresAt && { expiresAt: expiresAt.getTime() }),
      ...(revokedAt && { revokedAt: revokedAt.getTime() }),
    };
  throw unreadable('apiKeys', id, 'a field is missing or has the wrong type');
}
