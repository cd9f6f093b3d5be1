// Adds animals to the store in argv[2], as many as argv[3] says. Prints each id when its add is acknowledged.
import { openSqliteStore } from '../../../src/adapters/sqlite/open-sqlite-store.js';
import { rex } from './temporary-store.js';

const [file = '', count = '0'] = process.argv.slice(2);
const store = await openSqliteStore(file);
for (let left = Number(count); left > 0; left -= 4) {
  const added = await Promise.all([1, 2, 3, 4].map(() => store.pets.add(rex)));
  for (const { pet } of added) console.log(String(pet.id));
}
await store.close();
