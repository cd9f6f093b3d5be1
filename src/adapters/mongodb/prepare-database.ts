import type { Db, IndexDescription } from 'mongodb';
import { MongoStoreError } from './mongo-errors.js';

/** One animal for a claim; lists by status; claims that have expired. */
const INDEXES: IndexDescription[] = [
  {
    key: { 'claim.key': 1 },
    unique: true,
    sparse: true,
  },
  {
    key: { status: 1, _id: 1 },
  },
  {
    key: { 'claim.keepUntil': 1 },
    sparse: true,
  },
];

/** Before the first write: checks the collections, and creates the indexes that are missing. */
export async function prepareDatabase(database: Db): Promise<void> {
  const pets = database.collection('pets');
  const existing = (await hasPets(database)) ? await pets.indexes() : [];
  const shapes = new Set(existing.map(shapeOf));
  const missing = INDEXES.filter((index) => !shapes.has(shapeOf(index)));
  // The user may lack the right once all exist.
  if (missing.length > 0) await pets.createIndexes(missing);
}

/** What makes two indexes the same, by whatever names: the server creates no second one. */
const shapeOf = ({ key, unique = false, sparse = false }: IndexDescription): string =>
  [Object.entries(key), unique, sparse].join();

/**
 * Resolves to whether the database has a collection of animals.
 * @throws {MongoStoreError} it cannot hold a store: a capped collection drops animals, a collation makes two keys one
 */
export async function hasPets(database: Db): Promise<boolean> {
  const ours = {
    name: { $in: ['pets', 'apiKeys', 'counters', 'claims'] },
  };
  const found = await database.listCollections(ours, { nameOnly: false }).toArray();
  for (const { name, options = {} } of found) {
    const own = Object.keys(options).join();
    const fault = name === 'claims' ? 'is of animal-store 0.3' : own && `has the options ${own}`;
    if (fault)
      throw new MongoStoreError(
        `The database ${database.databaseName} cannot hold an animal store: its collection ${name} ${fault}.`,
      );
  }
  return found.some(({ name }) => name === 'pets');
}
