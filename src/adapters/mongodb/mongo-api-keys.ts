import type { ApiKeyRecord, ApiKeyRepository } from '../../application/ports/api-key-repository.js';
import { READ_OPTIONS } from './mongo-client.js';
import type { MongoConnection } from './mongo-connection.js';
import { retryableInsert } from './retryable-insert.js';

/** An API key, under its id. */
interface ApiKeyDocument extends Omit<ApiKeyRecord, 'id'> {
  readonly _id: string;
}

const toApiKey = ({ _id, ...fields }: ApiKeyDocument): ApiKeyRecord => ({ id: _id, ...fields });

/** Managed API keys in a MongoDB database. */
export function mongoApiKeys({ database, read, write }: MongoConnection): ApiKeyRepository {
  const apiKeys = database.collection<ApiKeyDocument>('apiKeys');
  return {
    add({ id, ...fields }, options) {
      const insert = retryableInsert(apiKeys, ({ hash }) => hash === fields.hash);
      return write(
        'adding an API key',
        options,
        async () => (await insert({ _id: id, ...fields })) === 'stored',
      );
    },

    findById: (id, options) =>
      read('reading an API key', options, async () => {
        const found = await apiKeys.findOne({ _id: { $eq: id } }, READ_OPTIONS);
        return found ? toApiKey(found) : undefined;
      }),

    list: (options) =>
      read('listing API keys', options, async () => {
        const found = await apiKeys.find({}, READ_OPTIONS).sort({ createdAt: 1 }).toArray();
        return found.map(toApiKey);
      }),

    revoke: (id, at, options) =>
      write('revoking an API key', options, async () => {
        const found = await apiKeys.findOneAndUpdate(
          { _id: { $eq: id } },
          [{ $set: { revokedAt: { $ifNull: ['$revokedAt', at] } } }], // the first time stays
          { returnDocument: 'after' },
        );
        return found ? toApiKey(found) : undefined;
      }),
  };
}
