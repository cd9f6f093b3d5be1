// Adds animals from standard input, one "NAME CATEGORY" a line, to a store that a service may use at the same time. A
// second run with the same lines within 24 hours adds nothing: each line is its own idempotency key.
import { createInterface } from 'node:readline';
import { InvalidPetError, createAnimalStore, parseInt64 } from 'animal-store';
import { openSqliteStore } from 'animal-store/sqlite';

const store = await openSqliteStore(process.env.ANIMALS_FILE ?? 'animals.db');
const animals = createAnimalStore({ pets: store.pets });

let added = 0;
let line = 0;
try {
  for await (const text of createInterface({ input: process.stdin })) {
    line += 1;
    const [, name, digits = ''] = /^(.*) (\S+)$/.exec(text) ?? [];
    const categoryId = parseInt64(digits);
    if (categoryId === undefined)
      throw new SyntaxError('expected a name, a space and a whole number');
    const idempotencyKey = { scope: 'delivery', key: `${line} ${text}` };
    const { replayed } = await animals.createPet({ name, categoryId }, { idempotencyKey });
    if (!replayed) added += 1;
  }
} catch (error) {
  if (!(error instanceof InvalidPetError || error instanceof SyntaxError)) throw error;
  console.error(`line ${line}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await store.close();
}
console.log(`${added} added`);
