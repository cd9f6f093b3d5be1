// A process of its own that adds animals to the store at argv[2]: as many as argv[3] says. All ids are printed.
import { openMongoStore } from '../../../src/adapters/mongodb/open-mongo-store.js';

const [uri = '', count = '0'] = process.argv.slice(2);
const store = await openMongoStore(uri, { timeout: 30_000 });
const ids: bigint[] = [];
let left = Number(count);

async function addAll(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const { pet } = await store.pets.add({ name: `Rex of ${process.pid}`, categoryId: 7n, status: 'sold' });
    ids.push(pet.id);
  }
}

await Promise.all(Array.from({ length: 4 }, addAll));
await store.close();
process.stdout.write(ids.join('\n'));
