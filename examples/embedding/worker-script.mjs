// A program without a server. It adds animals from standard input, one "NAME CATEGORY" a line, to a store that a
// service may use at the same time. Started again with the same lines, it adds nothing: each line is its own key.
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
    const [, name = text, digits = ''] = /^(.*) (\S+)$/.exec(text) ?? [];
    const idempotencyKey = { scope: 'delivery', key: `${line} ${text}` };
    const { replayed } = await animals.createPet(
      { name, categoryId: parseInt64(digits) },
      { idempotencyKey },
    );
    if (!replayed) added += 1;
  }
} catch (error) {
  if (!(error instanceof InvalidPetError)) throw error;
  for (const { field, message } of error.faults) console.error(`line ${line}: ${field} ${message}`);
  process.exitCode = 1;
} finally {
  await store.close();
}
console.log(`${added} added`);
