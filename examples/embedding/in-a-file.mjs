import { InvalidPetError, createAnimalStore, stringify } from 'animal-store';
import { openSqliteStore } from 'animal-store/sqlite'; // or: new MemoryPetRepository() of 'animal-store/memory'

const { pets, close } = await openSqliteStore('animals.db');
const store = createAnimalStore({ pets });

const { pet } = await store.createPet({ name: 'Bella', categoryId: 2n ** 63n - 1n });
console.log(stringify(await store.getPet(pet.id))); // exact: JSON.stringify refuses bigints

const { pets: page, next } = await store.listPets({ status: 'available', limit: 20 });
console.log(page.length, next);

await store.createPet({ name: ' ', categoryId: 7 }).catch((error) => {
  if (error instanceof InvalidPetError) console.log(error.code, error.faults);
});

// With a token of the caller's own, repeating a create is safe: for 24 hours it gives the same animal.
const request = { scope: 'till-3', token: 'receipt-4711' };
const first = await store.createPet({ name: 'Milo', categoryId: 2 }, { request });
const again = await store.createPet({ name: 'Milo', categoryId: 2 }, { request });
console.log(first.pet.id === again.pet.id, again.replayed);

await close();
