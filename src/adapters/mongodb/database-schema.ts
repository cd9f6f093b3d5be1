import { MongoServerError, type Db } from 'mongodb';
import { PET_SCHEMA, PETS_SCHEMA } from './pet-document.js';
import type { Attempt } from './retry.js';

/** How long the server keeps lapsed claims and what is left of animals, in seconds, for calls whose clock is behind. */
const SWEEP_DELAY = 60 * 60;

/**
 * The collections, except `counters`, which holds one document. Their schemas keep other programs from writing what
 * cannot be read; existing documents stay unchanged. Queries use `_id` or its order, so all collections can
 * be sharded by the hashed `_id`. That forbids other unique indexes, and none is needed: a claim is the `_id` of its
 * document, and the hash of an API key covers the key's id.
 */
const COLLECTIONS = [
  {
    name: 'pets',
    schema: PETS_SCHEMA,
    indexes: [
      { key: { status: 1, _id: 1 }, name: 'status_1__id_1' },
      { key: { removedUntil: 1 }, name: 'removedUntil_1', expireAfterSeconds: SWEEP_DELAY, sparse: true },
    ],
  },
  {
    name: 'claims',
    schema: {
      bsonType: 'object',
      required: ['_id', 'fingerprint', 'keepUntil', 'pet'],
      properties: {
        _id: { bsonType: 'string' },
        fingerprint: { bsonType: 'string' },
        keepUntil: { bsonType: 'date' },
        pet: {
          ...PET_SCHEMA,
          required: ['_id', 'operation'],
          properties: { ...PET_SCHEMA.properties, operation: { bsonType: 'objectId' } },
        },
      },
    },
    indexes: [{ key: { keepUntil: 1 }, name: 'keepUntil_1', expireAfterSeconds: SWEEP_DELAY }],
  },
  {
    name: 'apiKeys',
    schema: {
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
    indexes: [],
  },
] as const;

/**
 * Creates missing collections, sets their validators, then creates missing indexes: on a large collection that takes
 * long. Other processes may do the same.
 */
export async function prepareDatabase(
  database: Db,
  notice: (line: string) => void,
  options: Attempt,
): Promise<void> {
  const present = new Map<string, unknown>();
  for await (const { name, ...found } of database.listCollections({}, { ...options, nameOnly: false })) {
    present.set(name, 'options' in found ? found.options?.['validator'] : undefined);
  }
  for (const { name, schema } of COLLECTIONS) {
    const validator = { $jsonSchema: schema };
    if (JSON.stringify(present.get(name)) === JSON.stringify(validator)) continue;
    if (!present.has(name)) {
      try {
        // `createCollection` would send the signal to the server.
        await database.command({ create: name, validator }, options);
        notice(`made the collection ${name}`);
        continue;
      } catch (error) {
        // Another process, or the first write, was faster.
        if (!(error instanceof MongoServerError && error.codeName === 'NamespaceExists')) throw error;
      }
    }
    await database.command({ collMod: name, validator }, options);
    notice(`set the validator of the collection ${name}`);
  }
  for (const { name, indexes } of COLLECTIONS) {
    if (indexes.length === 0) continue;
    const present = await database.collection(name).listIndexes(options).toArray();
    for (const index of indexes) {
      if (present.some((found) => found['name'] === index.name)) continue;
      await database.command({ createIndexes: name, indexes: [index] }, options);
      notice(`made the index ${index.name} on ${name}`);
    }
  }
}
