// A process of its own that adds animals to the store in argv[2]: as many as argv[3] says, or until it is
// killed. Each id is printed once its add was answered.
import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';

const [file = '', limit = 'Infinity'] = process.argv.slice(2);
const store = await openSqliteStore(file);
let left = Number(limit);

async function addAll(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const { pet } = await store.pets.add({ name: `Rex of ${process.pid}`, categoryId: 7n, status: 'sold' });
    writeSync(1, `${pet.id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, addAll));
await store.close();
