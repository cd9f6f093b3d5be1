import { MongoServerError, type Abortable, type CreateIndexesOptions, type Db, type Document } from 'mongodb';
import { PET_STATUSES } from '../../domain/pet.js';
import { isDuplicateKey } from './mongo-error.js';
import { abortable } from './abortable.js';

/** How long a lapsed claim is left, for calls whose clock is behind: an hour, in seconds. */
const SWEEP_DELAY = 60 * 60;

interface CollectionSchema {
  readonly name: string;
  /** Keeps other programs from writing what could not be read; what they wrote before stays. */
  readonly validator?: Document;
  readonly index?: { readonly key: Record<string, 1>; readonly name: string } & CreateIndexesOptions;
}

/**
 * The collections, but that of the counter, which is one document. Each is asked by its `_id` or in the order of it, so that all can be sharded by the hashed `_id`;
 * that forbids unique indexes on anything else, and none is needed: a claim is the `_id` of its document, and the
 * hash of an API key covers the key's id, so that distinct ids are distinct hashes.
 */
const COLLECTIONS: readonly CollectionSchema[] = [
  {
    name: 'pets',
    validator: {
      $jsonSchema: {
        bsonType: 'object',
        required: ['_id', 'name', 'categoryId', 'status'],
        properties: {
          _id: { bsonType: 'long' },
          name: { bsonType: 'string', minLength: 1 },
          categoryId: { bsonType: 'long' },
          status: { enum: [...PET_STATUSES] },
        },
      },
    },
    index: { key: { status: 1, _id: 1 }, name: 'status_1__id_1' },
  },
  {
    name: 'claims',
    index: { key: { keepUntil: 1 }, name: 'keepUntil_1', expireAfterSeconds: SWEEP_DELAY },
  },
  {
    name: 'apiKeys',
    validator: {
      $jsonSchema: {
        bsonType: 'object',
        required: ['_id', 'name', 'hash', 'scopes', 'createdAt'],
        properties: {
          _id: { bsonType: 'string' },
          name: { bsonType: 'string' },
          hash: { bsonType: 'string' },
          scopes: { bsonType: 'array', items: { bsonType: 'string' } },
          createdAt: { bsonType: 'date' },
          expiresAt: { bsonType: 'date' },
          revokedAt: { bsonType: 'date' },
        },
      },
    },
  },
];

type Tell = (line: string) => void;

/** Makes the collections that are missing, also where other processes do the same. Says what it made. */
export async function makeCollections(database: Db, tell: Tell, signal: AbortSignal): Promise<void> {
  const options: Abortable = { signal };
  const present = new Map<string, unknown>();
  for (const { name, ...collection } of await database
    .listCollections({}, abortable({ nameOnly: false }, signal))
    .toArray()) {
    present.set(name, 'options' in collection ? collection.options?.['validator'] : undefined);
  }
  for (const { name, validator } of COLLECTIONS) {
    if (!present.has(name)) {
      if (await created(database, name, validator, options)) tell(`made the collection ${name}`);
    } else if (validator && JSON.stringify(present.get(name)) !== JSON.stringify(validator)) {
      await database.command({ collMod: name, validator }, options);
      tell(`set the validator of the collection ${name}`);
    }
  }
}

/** Makes the indexes that are missing, which takes its time where much is stored. Says what it made. */
export async function makeIndexes(database: Db, tell: Tell, signal: AbortSignal): Promise<void> {
  for (const { name, index } of COLLECTIONS) {
    if (index === undefined) continue;
    const indexes = await database.collection(name).listIndexes().toArray();
    if (indexes.some((found) => found['name'] === index.name)) continue;
    await database.command({ createIndexes: name, indexes: [index] }, { signal });
    tell(`made the index ${index.name} on ${name}`);
  }
}

/** `false` when another process was faster. */
async function created(
  database: Db,
  name: string,
  validator: Document | undefined,
  options: Abortable,
): Promise<boolean> {
  try {
    // Not `createCollection`, which sends the signal to the server.
    await database.command({ create: name, ...(validator && { validator }) }, options);
    return true;
  } catch (error) {
    const exists = error instanceof MongoServerError && error.codeName === 'NamespaceExists';
    if (exists || isDuplicateKey(error)) return false;
    throw error;
  }
}
