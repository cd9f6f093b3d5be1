// Adds a delivery of animals from standard input, one "NAME CATEGORY" a line, to a store that a service may use at the
// same time (client/client.mjs sends one to the service instead):
//   printf 'Bella 1\nMilo 2\n' | node add-delivery.mjs monday
// A second run with the same name and lines within 24 hours adds nothing: each create has an idempotency key made of
// the number and text of its line, whose scope is the delivery.
import { hash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createAnimalStore, parseInt64 } from 'animal-store';
import { openSqliteStore } from 'animal-store/sqlite';

const [, , delivery] = process.argv;
if (!delivery) throw new Error('Name the delivery: node add-delivery.mjs NAME');

const store = await openSqliteStore(process.env.ANIMALS_FILE ?? 'animals.db');
const animals = createAnimalStore({ pets: store.pets });

let added = 0;
let lineNumber = 0;
try {
  for await (const line of createInterface({ input: process.stdin })) {
    lineNumber += 1;
    const [, name, digits = ''] = /^(.*) (\S+)$/.exec(line) ?? [];
    const categoryId = parseInt64(digits);
    if (categoryId === undefined)
      throw new SyntaxError('expected a name, a space and a whole number');
    const idempotencyKey = { scope: delivery, key: hash('sha256', `${lineNumber} ${line}`) };
    const { replayed } = await animals.createPet({ name, categoryId }, { idempotencyKey });
    if (!replayed) added += 1;
  }
} catch (error) {
  if (error.code !== 'invalid_pet' && !(error instanceof SyntaxError)) throw error;
  console.error(`line ${lineNumber}: ${error.message}`);
  process.exitCode = 1;
} finally {
  await store.close();
}
console.log(`${added} added`);
