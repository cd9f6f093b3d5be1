import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeOnMongo, dropDatabase, newDatabaseName, uriOf } from '../adapters/mongodb/mongo-server.js';
import { describeExactlyOnce } from './exactly-once.js';

describeExactlyOnce('An idempotency key, on the memory store,', async () => ({
  url: 'memory:',
  durable: false,
  dispose: async () => {},
}));

describeExactlyOnce('An idempotency key, on the SQLite store,', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  return {
    url: `sqlite:${join(folder, 'animals.db')}`,
    durable: true,
    dispose: () => rm(folder, { recursive: true }),
  };
});

describeOnMongo('On a MongoDB server', (server) => {
  describeExactlyOnce('an idempotency key, on the MongoDB store,', async () => {
    const database = newDatabaseName();
    return {
      url: uriOf(server, database),
      durable: true,
      dispose: async () => void (await dropDatabase(server, database)),
    };
  });
});
