import { createAnimalStore, stringifyJson } from 'animal-store';
import { openSqliteStore } from 'animal-store/sqlite';

const store = await openSqliteStore('animals.db');
const animals = createAnimalStore({ pets: store.pets });

const { pet } = await animals.createPet({ name: 'Bella', categoryId: 2n ** 63n - 1n });
console.log(stringifyJson(await animals.getPet(pet.id))); // exact; JSON.stringify refuses bigints

const { pets, next } = await animals.listPets({ status: 'available', limit: 20 });
console.log(pets.length, next);

await animals.createPet({ name: ' ', categoryId: 7 }).catch((error) => {
  if (error.code !== 'invalid_pet') throw error;
  console.log(error.code, error.faults);
});

// With an idempotency key a create can be retried: for 24 hours it returns the same animal.
const idempotencyKey = { scope: 'till-3', key: 'receipt-4711' };
const first = await animals.createPet({ name: 'Milo', categoryId: 2 }, { idempotencyKey });
const again = await animals.createPet({ name: 'Milo', categoryId: 2 }, { idempotencyKey });
console.log(first.pet.id === again.pet.id, again.replayed);

await store.close();
