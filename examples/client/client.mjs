/*
 * Reads animals from standard input, one "NAME CATEGORY" a line, adds each to a running service exactly once, and then
 * lists all that are available (embedding/add-delivery.mjs adds them to the store without a service):
 *
 *   printf 'Bella 1\nMilo 9223372036854775807\n' |
 *     BASE_URL=http://127.0.0.1:8080/v1 API_KEY=ast_live_... node client.mjs monday
 *
 * `monday` names the delivery. A second run with its name and lines within 24 hours adds nothing: each create has an
 * idempotency key made of the name, and of the number and text of its line.
 */
import { hash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { isAnimalStoreError, parseInt64, stringifyJson } from 'animal-store';
import { animalStoreClient, ServiceError } from 'animal-store/client';

const { BASE_URL = 'http://127.0.0.1:8080/v1', API_KEY = '' } = process.env;

const [, , delivery] = process.argv;
if (!delivery) throw new Error('Name the delivery: node client.mjs NAME');

const animalStore = animalStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY });

// Ctrl-C ends the current call.
const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort(new Error('interrupted')));
const { signal } = interruption;

let lineNumber = 0;
try {
  for await (const line of createInterface({ input: process.stdin, signal })) {
    lineNumber += 1;
    const [, name, digits = ''] = /^(.*) (\S+)$/.exec(line) ?? [];
    const categoryId = parseInt64(digits);
    if (categoryId === undefined)
      throw new SyntaxError(`line ${lineNumber}: expected a name, a space and a whole number`);
    const idempotencyKey = { key: hash('sha256', JSON.stringify([delivery, lineNumber, line])) };
    const options = { idempotencyKey, signal };
    const { pet, replayed } = await animalStore.createPet({ name, categoryId }, options);
    console.log(replayed ? 'exists' : 'added', stringifyJson(pet));
  }
  for await (const pet of animalStore.allPets({ status: 'available' }, { signal }))
    console.log(stringifyJson(pet));
} catch (error) {
  if (isAnimalStoreError(error)) console.error(error.code, error.message);
  else if (error instanceof ServiceError) {
    console.error(error.code, error.message, `(request ${error.requestId})`);
  } else console.error(String(error));
  process.exitCode = 1;
}
