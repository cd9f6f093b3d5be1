import { ObjectId, type Collection } from 'mongodb';
import type { Call } from '../../application/animal-store.js';
import {
  byAge,
  type ApiKeyRecord,
  type ApiKeyRepository,
} from '../../application/ports/api-key-repository.js';
import { toApiKey, toApiKeyDocument, type ApiKeyDocument, type FoundApiKey } from './api-key-document.js';
import { UndecidedError, isDuplicateKey } from './mongo-error.js';
import { abortable, SERVER_LIMIT } from './abortable.js';
import { MongoSession, type MongoConnection } from './mongo-connection.js';
import { RefusedDocuments } from './refused-documents.js';

/**
 * Managed keys in a MongoDB database, as hashes: what was answered is seen by every process. A document that is not
 * wholly a key (another program's) is no key: nobody gets in with it, and it is told of once; its id stays taken.
 */
export class MongoApiKeyRepository implements ApiKeyRepository {
  readonly #session: MongoSession;
  readonly #keys: Collection<ApiKeyDocument>;
  readonly #refused: RefusedDocuments;

  constructor(connection: MongoConnection) {
    this.#keys = connection.collection('apiKeys');
    this.#refused = new RefusedDocuments('apiKeys', connection.tell);
    this.#session = new MongoSession(connection);
  }

  async add(key: ApiKeyRecord, call: Call = {}): Promise<boolean> {
    const document = toApiKeyDocument(key, new ObjectId());
    return this.#session.run('adding a key', call, async (signal) => {
      try {
        await this.#keys.insertOne(document, abortable(SERVER_LIMIT, signal));
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      const found = await this.#find(document._id, signal);
      if (found === null) throw new UndecidedError(`the majority has no key ${document._id} yet`);
      return document.operation.equals(found.operation as ObjectId);
    });
  }

  findById(id: string, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    return this.#session.run('reading a key', call, async (signal) => {
      const found = await this.#find(id, signal);
      return found === null ? undefined : this.#read(found);
    });
  }

  list(call: Call = {}): Promise<readonly ApiKeyRecord[]> {
    return this.#session.run('listing keys', call, async (signal) => {
      const found = await this.#keys.find<FoundApiKey>({}, abortable(SERVER_LIMIT, signal)).toArray();
      // Sorted here, for MongoDB compares text by code point.
      return found.flatMap((document) => this.#read(document) ?? []).sort(byAge);
    });
  }

  /** `$min` keeps the earliest instant, so that the write is safe to repeat. */
  revoke(id: string, at: Date, call: Call = {}): Promise<ApiKeyRecord | undefined> {
    const revokedAt = new Date(at);
    return this.#session.run('revoking an API key', call, async (signal) => {
      const found = await this.#keys.findOneAndUpdate(
        { _id: { $eq: id } },
        { $min: { revokedAt } },
        abortable({ ...SERVER_LIMIT, returnDocument: 'after' }, signal),
      );
      return found === null ? undefined : this.#read(found);
    });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** With `$eq` whatever is given is a value, never an operator. */
  #find(id: string, signal: AbortSignal): Promise<FoundApiKey | null> {
    return this.#keys.findOne<FoundApiKey>({ _id: { $eq: id } }, abortable(SERVER_LIMIT, signal));
  }

  #read(found: FoundApiKey): ApiKeyRecord | undefined {
    return toApiKey(found) ?? this.#refused.tell(found._id);
  }
}
