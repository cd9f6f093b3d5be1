// A program without any server that adds animals from standard input, one "NAME CATEGORY" a line, to a store that a
// service may be using meanwhile. Started again with the same lines, it adds nothing: each line is its own token.
import { createInterface } from 'node:readline';
import { InvalidPetError, createAnimalStore, parseInt64 } from 'animal-store';
import { openSqliteStore } from 'animal-store/sqlite';

const { pets, close } = await openSqliteStore(process.env.ANIMALS_FILE ?? 'animals.db');
const store = createAnimalStore({ pets });

let added = 0;
let line = 0;
try {
  for await (const text of createInterface({ input: process.stdin })) {
    line += 1;
    const [, name = text, digits = ''] = /^(.*) (\S+)$/.exec(text) ?? [];
    const request = { scope: 'delivery', token: `${line} ${text}` };
    const { replayed } = await store.createPet({ name, categoryId: parseInt64(digits) }, { request });
    if (!replayed) added += 1;
  }
} catch (error) {
  if (!(error instanceof InvalidPetError)) throw error;
  for (const { field, message } of error.faults) console.error(`line ${line}: ${field} ${message}`);
  process.exitCode = 1;
} finally {
  await close();
}
console.log(`${added} added`);
