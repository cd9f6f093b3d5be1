/*
 * Reads animals from standard input, one "NAME CATEGORY" a line, adds each to a running service exactly once, and then
 * lists all that are available:
 *
 *   printf 'Bella 1\nMilo 9223372036854775807\n' | BASE_URL=http://127.0.0.1:8080/v1 API_KEY=ast_live_... node examples/client.mjs
 *
 * A second run with the same lines within 24 hours adds nothing: each create has an idempotency key made of the number
 * and text of its line.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { isAnimalStoreError, stringifyJson } from 'animal-store';
import { animalStoreClient, ServiceError } from 'animal-store/client';

const { BASE_URL = 'http://127.0.0.1:8080/v1', API_KEY = '' } = process.env;

const animalStore = animalStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY });

// Ctrl-C ends the current call.
const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort(new Error('interrupted')));
const { signal } = interruption;

let number = 0;
try {
  for await (const line of createInterface({ input: process.stdin, signal })) {
    const [, name, category] = /^(.*\S)\s+(-?\d+)$/.exec(line) ?? [];
    if (name === undefined) throw new TypeError(`line is not a name and a category: ${line}`);
    number += 1;
    const key = createHash('sha256').update(`${number} ${line}`).digest('hex');
    const animal = { name, categoryId: BigInt(category) };
    const { pet, replayed } = await animalStore.createPet(animal, {
      idempotencyKey: { key },
      signal,
    });
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
