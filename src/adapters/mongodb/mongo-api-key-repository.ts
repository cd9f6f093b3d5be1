import { ObjectId, type Collection } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import type { MongoConnection } from './mongo-connection.js';
import { UndecidedError, isDuplicateKey, unreadable } from './retry.js';

/** A key in the database. Version 0.1 also wrote `replacedBy`, which is ignored. */
interface ApiKeyDocument extends Omit<ApiKeyRecord, 'id'> {
  readonly _id: string;
  /** Identifies the call that added the key, so that a call whose reply was lost recognises its own insert. */
  readonly operation?: ObjectId;
}

/** Managed keys in a MongoDB database, as hashes. */
export class MongoApiKeyRepository implements ApiKeyRepository {
  readonly #connection: MongoConnection;
  readonly #apiKeys: Collection<ApiKeyDocument>;

  constructor(connection: MongoConnection) {
    this.#connection = connection;
    this.#apiKeys = connection.collection('apiKeys');
  }

  async add(apiKey: ApiKeyRecord, { signal }: Call = {}): Promise<boolean> {
    const operation = new ObjectId();
    const { id: _id, ...fields } = copyOf(apiKey);
    return this.#connection.run('adding an API key', { signal }, async (options) => {
      try {
        await this.#apiKeys.insertOne({ _id, ...fields, operation }, options);
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      const found = await this.#apiKeys.findOne({ _id }, options);
      if (found === null) throw new UndecidedError(`the majority does not have API key ${_id} yet`);
      return operation.equals(found.operation);
    });
  }

  findById(id: string, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    return this.#connection.run('reading an API key', { signal }, async (options) => {
      // With `$eq` an id is always a value, never an operator.
      const found = await this.#apiKeys.findOne({ _id: { $eq: id } }, options);
      return found === null ? undefined : toApiKey(found);
    });
  }

  list({ signal }: Call = {}): Promise<readonly ApiKeyRecord[]> {
    return this.#connection.run('listing API keys', { signal }, async (options) => {
      const found = await this.#apiKeys.find({}, options).toArray();
      // Sorted here: MongoDB compares text by code point.
      return found.map(toApiKey).sort(byAge);
    });
  }

  async revoke(id: string, at: Date, { signal }: Call = {}): Promise<ApiKeyRecord | undefined> {
    const revokedAt = new Date(at);
    return this.#connection.run('revoking an API key', { signal }, async (options) => {
      // `$min` keeps the earliest instant, so repeating it changes nothing.
      const found = await this.#apiKeys.findOneAndUpdate(
        { _id: { $eq: id } },
        { $min: { revokedAt } },
        { ...options, returnDocument: 'after' },
      );
      return found === null ? undefined : toApiKey(found);
    });
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isTime = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());

/** @throws {UnavailableError} another program wrote the key: who revoked it by hand may have used a wrong type. */
function toApiKey({ _id, ...fields }: ApiKeyDocument): ApiKeyRecord {
  const { name, hash, scopes, createdAt, expiresAt, revokedAt } = fields;
  const times = [createdAt, ...[expiresAt, revokedAt].filter((time) => time !== undefined)];
  if ([_id, name, hash].every(isText) && Array.isArray(scopes) && scopes.every(isText) && times.every(isTime))
    return copyOf({ id: _id, ...fields });
  throw unreadable('apiKeys', _id, 'a field is missing or has the wrong type');
}

/** Every field of a key, and no other. The dates are copied: they are mutable. */
const copyOf = ({ id, name, hash, scopes, createdAt, expiresAt, revokedAt }: ApiKeyRecord): ApiKeyRecord => ({
  id,
  name,
  hash,
  scopes: [...scopes],
  createdAt: new Date(createdAt),
  ...(expiresAt && { expiresAt: new Date(expiresAt) }),
  ...(revokedAt && { revokedAt: new Date(revokedAt) }),
});
