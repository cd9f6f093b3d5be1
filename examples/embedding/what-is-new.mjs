// Prints each animal that is added to the service at BASE_URL. With LAST_ID, an id that it has printed, it continues
// after that animal. PAUSE is the time between two polls, in milliseconds.
import { setTimeout } from 'node:timers/promises';
import { stringifyJson } from 'animal-store';
import { AnimalStoreClient } from 'animal-store/client';

const { BASE_URL, API_KEY, LAST_ID = '0', PAUSE = '1000' } = process.env;
const animals = new AnimalStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY });

for (let after = BigInt(LAST_ID); ; await setTimeout(Number(PAUSE))) {
  for await (const pet of animals.allPets({ after })) {
    console.log(stringifyJson(pet));
    after = pet.id; // a program that must miss none stores it here, together with its own work
  }
}
