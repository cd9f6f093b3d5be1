import type { Db, IndexDescription } from 'mongodb';
import type { OpenMode } from '../../application/ports/store.js';
import { MongoStoreError } from './mongo-errors.js';

const INDEXES: IndexDescription[] = [
  { key: { 'claim.key': 1 }, unique: true, sparse: true }, // one animal for each claim
  { key: { status: 1, _id: 1 } }, // lists by status
  { key: { 'claim.keepUntil': 1 }, sparse: true }, // expired claims
];

/** Before the first write: checks the collections, and creates the indexes that are missing. */
export async function prepareCollections(database: Db, mode: OpenMode): Promise<void> {
  const pets = database.collection('pets');
  const existing = (await checkCollections(database, mode)) ? await pets.indexes() : [];
  const shapes = new Set(existing.map(shapeOf));
  const missing = INDEXES.filter((index) => !shapes.has(shapeOf(index)));
  // Only then: this user may lack the right to create indexes.
  if (missing.length > 0) await pets.createIndexes(missing);
}

/** What makes an index ours. Not its name: the server refuses a second index of the same shape under another name. */
const shapeOf = ({ key, unique = false, sparse = false }: IndexDescription): string =>
  [Object.entries(key), unique, sparse].join();

/**
 * Checks the collections. Resolves to whether `pets` exists.
 * @throws {MongoStoreError} one has options: a capped one drops animals, a collation makes different keys equal; or
 * `pets` does not exist, and the mode is not `create`
 */
export async function checkCollections(database: Db, mode: OpenMode): Promise<boolean> {
  const ours = { name: { $in: ['pets', 'apiKeys', 'counters'] } };
  const found = await database.listCollections(ours, { nameOnly: false }).toArray();
  for (const { name, options = {} } of found) {
    const given = Object.keys(options).join();
    if (given !== '')
      throw new MongoStoreError(
        `The database ${database.databaseName} cannot hold an animal store: its collection ${name} has the options ${given}.`,
      );
  }
  const exists = found.some(({ name }) => name === 'pets');
  if (exists || mode === 'create') return exists;
  throw new MongoStoreError(`The database ${database.databaseName} holds no animal store.`);
}
